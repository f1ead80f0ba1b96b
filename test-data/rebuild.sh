#!/bin/sh
# Compiles the sources of test-data again; see README.md. Needs cargo for the .jasm files.
set -e
cd "$(dirname "$0")"
javac17=${JAVAC17:-javac}
javac25=${JAVAC25:-javac}
find harness programs bir-corners hello edit ghost natives observed calls entries agents replay cases modules loaders locations -name '*.class' -delete
"$javac17" --release 8 -Xlint:-options -d harness harness/Harness.java harness/ajar/T.java
cargo run -q -p test-utils --example jasm -- bir-corners bir-corners/*.jasm
"$javac17" --release 17 -cp bir-corners -d bir-corners bir-corners/*.java
for source in programs/*.java; do
    case $source in
        *25.java) "$javac25" --release 25 -g -cp harness -d programs "$source" ;;
        *17.java) "$javac17" --release 17 -g -cp harness -d programs "$source" ;;
        *) "$javac17" --release 8 -Xlint:-options -g -cp harness -d programs "$source" ;;
    esac
done
"$javac17" --release 17 -g -d hello hello/*.java
"$javac17" --release 8 -Xlint:-options -d natives natives/*.java
"$javac17" --release 8 -Xlint:-options -d locations locations/*.java
cargo run -q -p test-utils --example jasm -- loaders loaders/asks/*.jasm
"$javac17" --release 17 -g -d loaders loaders/*.java loaders/asks/*.java
"$javac17" --add-modules jdk.jdi -d replay replay/Tracer.java
"$javac25" --release 21 -g -d observed observed/*.java
"$javac25" --release 21 -g -d calls $(find calls -name '*.java' | sort)
"$javac17" --release 8 -Xlint:-options -g cases/S08*.java
"$javac25" --release 21 -g $(ls cases/*.java | grep -v S08)
# Sealed.java and Stray.java are about a superclass that is not there.
rm calls/Gone.class
"$javac17" --release 17 -g -d contexts contexts/*.java
"$javac17" --release 17 -g -d variables variables/*.java
"$javac17" --release 17 -d entries entries/*.java entries/p/*.java entries/q/*.java
"$javac17" --release 8 -Xlint:-options -d agents agents/*.java
"$javac17" --release 17 -d modules/probe modules/probe/*.java
"$javac17" --release 17 -d modules/mod -Xlint:-module $(find modules/mod -name '*.java' | sort)
"$javac17" --release 17 -d modules/roots --module-source-path modules/roots -Xlint:-module $(find modules/roots -name '*.java' | sort)
"$javac17" --release 17 -d modules/friend -p modules/mod $(find modules/friend -name '*.java' | sort)
"$javac17" --release 17 -d modules/automatic modules/automatic/au/*.java
"$javac17" --release 17 -cp modules/mod:modules/automatic -d modules/outside $(find modules/outside -name '*.java' | sort)
# Java 8 knows no modules, so its compiler takes classes of any package.
"$javac17" --release 8 -Xlint:-options -d modules/shadow $(find modules/shadow -name '*.java' | sort)
"$javac17" --add-exports java.base/sun.security.util=ALL-UNNAMED -XDignore.symbol.file -d modules/executable modules/executable/*.java
"$javac17" --release 17 -d modules/sealed/a modules/sealed/a/s/*.java
"$javac17" --release 17 -cp modules/sealed/a -d modules/sealed/b modules/sealed/b/s/*.java
for version in edit/*/; do
    "$javac17" --release 17 -g "$version"Order.java
done
"$javac17" --release 17 -g ghost/*.java
# A reader meets the annotations without their declarations.
rm ghost/Ghost*.class
