"""The edges over HTTP and stdio: REST, MCP, health. Thin: every capability is an operation of the house."""
