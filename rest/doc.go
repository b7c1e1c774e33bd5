// Package rest answers the documented REST paths (spec §4) with operations on
// the graph. It holds no rules of its own: permissions, defaults and checks are
// those of the fields that the operations select.
//
// To add a path:
//
//  1. Write its operation into operations/NOUN.graphql. Its variables are the
//     parameters of the path by their documented names: those in braces of the
//     path come from there, the others from the query (GET) or the JSON body
//     (POST, PATCH); one that must not be null is required. Aliases give the
//     fields of the answer their documented names.
//
//  2. Put marks on fields. They are no part of the graph: they are taken out
//     before the executor sees the document.
//
//     @body    this value is the answer, without what stands around it
//     @total   the length of the whole list: for X-Total-Count and Link
//     @must    where this is null, what the path names is not there: 404
//     @absent  leave the field out when it is null
//     @empty   write a text that is null as ""
//     @one     put the value into an array of one
//     @number  write a BigInt as a JSON integer
//     @lower   write an enum in lower case
//     @more, @next  run the operation again, with $after, until the list ends
//
//     On a variable, @loose takes a JSON number or null for a text as well.
//
//  3. Add a line to the table in routes.go, and requests with their exact
//     answers to testdata/NOUN.txt.
//
// New refuses to start with an operation that the graph does not know, a
// variable that no parameter fills, or an operation without route.
package rest
