// Package mcp serves tools for agents by the Model Context Protocol: POST /mcp, stateless
// streamable HTTP. A tool is a stored operation, a file of the folder operations: its name
// is the tool's, its description is written for a model, and both schemas are derived from
// its variables and its selection. It runs on the engine of the graph, so permissions,
// groups, prices and limits are those of every other client.
package mcp
