// Package scrape serves numbers of a company's fleet to Prometheus: GET /metrics/fleet.
// They are read by stored queries on the engine of the graph, so permissions, groups and
// limits are those of every other client. Subscribers by tariff are counted by the store,
// for the scope of the caller. No series is of one subscriber.
package scrape
