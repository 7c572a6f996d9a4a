"""Links and annotation turned into others: symmetrizing, pieces, columns, projecting."""
