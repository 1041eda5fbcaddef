"""The functions of the grammar's rules, one module for each kind of meaning. grammar.toml names them."""
