// Package domain holds the words and rules of simgraph: what a subscriber, a
// group, a tag, usage and an alert are, what is allowed, and the ports through
// which the rest of the program keeps and finds them. It contains neither GraphQL
// nor SQL nor HTTP.
//
// Every port method takes the context first and then the Scope: the company
// and the groups that the caller may see. Times are UTC, data volumes bytes,
// money the smallest unit of its currency (pence).
package domain
