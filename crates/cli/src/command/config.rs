//! `ajar config`: shows the value and origin of each setting.

use std::io::Write;

use driver::world::find_jdk;
use serde_json::json;

use crate::args::{ConfigArgs, Global};
use crate::output::Output;
use crate::report::{Ended, Outcome};
use crate::settings;

/// Runs `ajar config`.
pub(crate) fn run(args: &ConfigArgs, global: &Global) -> anyhow::Result<Ended> {
    let settings = settings::resolve(global, &args.class_path, &args.platform, args.output_format.as_ref())?;
    let jdk = find_jdk(&settings.jdk.value).ok().flatten();
    let rows = settings.rows(jdk.as_ref());
    let mut out = Output::open(args.output.output.as_ref())?;
    if settings::format(&settings, &["text", "json"])? == "json" {
        let rows: Vec<_> = rows
            .iter()
            .map(|it| json!({ "key": it.key, "value": it.value, "origin": it.origin.to_string() }))
            .collect();
        writeln!(out, "{}", json!({ "settings": rows }))?;
    } else {
        let width = rows.iter().map(|it| it.value.chars().count()).max().unwrap_or(0).min(60);
        for it in &rows {
            writeln!(out, "{:<14} {:<width$}  {}", it.key, it.value, it.origin)?;
        }
    }
    out.finish()?;
    Ok(Outcome::Fine.into())
}
