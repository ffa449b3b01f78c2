//! The JSON Schema of scenario files, for editors. It is made from the raw tables.

use super::raw::RawFile;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema as it is committed in `scenarios/scenario.schema.json`.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<RawFile>();
    schema.insert("title".to_owned(), "A scenario".into());
    schema.to_value()
}
