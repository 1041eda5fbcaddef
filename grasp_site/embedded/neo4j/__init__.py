"""A real Neo4j for `make neo4j` and the tests: the community server of the Maven repository, as a child process."""
