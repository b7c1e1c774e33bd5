// Package report holds the rules of reports: questions about usage that are answered on a
// schedule and sent by mail. They are answered as their owner sees usage.
package report
