"""A real Neo4j for `make neo4j` and the tests: the community server from the Maven repository, as a child process."""
