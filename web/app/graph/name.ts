/** What the page calls itself, in headers and in the payload of connection_init. */
export const clientName = { 'apollographql-client-name': 'simgraph page' };
