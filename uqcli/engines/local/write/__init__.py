"""Writers: input rows with added columns, and generated rows."""
