"""What a caller can ask of the house: the operations behind MCP, REST and the command line."""
