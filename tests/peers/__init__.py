"""How the cases of reference values (tests/golden) become calls of rankeval, system by system."""
