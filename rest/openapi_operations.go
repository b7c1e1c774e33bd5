package rest

import (
	"strings"

	"simgraph/domain"
	"simgraph/domain/bulk"
)

const (
	// OperationsPath is the path of files with changes of subscribers, which is no
	// stored operation on the graph.
	OperationsPath = "/operations"
	// OperationsTemplatePath is the path of a file that has a header alone.
	OperationsTemplatePath = "/operations/template.csv"
)

// operationStart describes POST /operations.
func operationStart() object {
	responses := object{"200": object{
		"description": "The operation as it is now. The graph has its results, with the line of each row: operation { results { line outcome message } }.",
		"content":     object{"application/json": object{"schema": startedOperation()}},
	}}
	for _, status := range []string{"400", "401", "403", "404", "429", "500", "503"} {
		responses[status] = object{"$ref": "#/components/responses/" + status}
	}
	responses["413"] = failure("PAYLOAD_TOO_LARGE: the file is larger than the service takes.")
	responses["415"] = failure("UNSUPPORTED_MEDIA_TYPE: the body is not text/csv in UTF-8, or it is compressed.")
	return object{
		"operationId": "startSubscriberChange",
		"summary":     "Change subscribers by a CSV file",
		"description": "Starts an operation with a row for each line, at most 200,000, as startSubscriberChange of the graph does. Cells are separated by commas, semicolons or tabs. A line that cannot be read is a row that fails. " +
			"Needs the permissions: " + domain.ViewSubscriber.Label() + ", and " + domain.UpdateSubscriber.Label() + " for tags and nicknames, " + domain.ManageInventory.Label() + " for the rest and for what it creates.",
		"tags":        []string{"operations"},
		"security":    []any{object{"oauth": []domain.Permission{domain.ViewSubscriber}}},
		"parameters":  operationParameters(),
		"requestBody": object{"required": true, "description": "The file, with a header.", "content": object{"text/csv": object{"schema": object{"type": "string"}, "example": exampleFile}}},
		"responses":   responses,
	}
}

func operationParameters() []any {
	parameter := func(name, description string, schema object) object {
		return object{"name": name, "in": "query", "description": description, "schema": schema, "example": example("", name)}
	}
	return []any{
		parameter("map", "COLUMN=FIELD for a column of another name, COLUMN= for one to leave out.", object{"type": "array", "items": object{"type": "string"}}),
		parameter("validateOnly", "Whether this is a dry run.", object{"type": "boolean", "default": false}),
		parameter("errorPolicy", "What becomes of the others when rows fail.", object{
			"type": "string", "default": bulk.RejectEverything, "enum": []bulk.Policy{bulk.RejectEverything, bulk.RejectFailedRows, bulk.IgnoreFailed},
		}),
		parameter("create", "Whether the subscribers of rows that do not exist are created. Such a row needs "+strings.Join(bulk.Needed(), ", ")+".", object{"type": "boolean", "default": false}),
		parameter("expect", "How many rows there must be. Above 1,000 a run must say it.", object{"type": "integer", "minimum": 0}),
		parameter("digest", "The digest of a dry run: refused when the rows are others.", object{"type": "string"}),
		parameter("silence", "Whether a silence is made that ends with the operation, as of startSubscriberChange.", object{"type": "boolean", "default": false}),
		parameter("reason", "Why, in one line, kept with the operation and in the audit log.", object{"type": "string", "maxLength": domain.MaxReason}),
	}
}

func startedOperation() object {
	text := func(description string) object { return object{"type": "string", "description": description} }
	number := func(description string) object {
		return object{"type": "integer", "minimum": 0, "description": description}
	}
	return object{
		"type": "object",
		"required": []string{
			"operationId", "state", "isDryRun", "digest", "total", "done", "created", "changed", "failed", "unreadable", "unreadableTotal",
		},
		"properties": object{
			"operationId": text("The id of the operation."),
			"state":       object{"type": "string", "enum": []bulk.State{bulk.Checking, bulk.Checked, bulk.Rejected, bulk.Running, bulk.Done, bulk.Cancelled}, "description": "How far it is."},
			"isDryRun":    object{"type": "boolean", "description": "Whether nothing changes."},
			"digest":      text("Identifies the rows: what a dry run gives here can be demanded of a run."),
			"total":       number("How many rows it has."),
			"done":        number("How many of them were decided, or checked."),
			"created":     number("How many subscribers were created, or would be."),
			"changed":     number("How many of them changed, or would change."),
			"failed":      number("How many of them failed."),
			"unreadable": object{"type": "array", "maxItems": 1000, "description": "The first lines that cannot be read.", "items": object{
				"type": "object", "required": []string{"line", "message"},
				"properties": object{
					"line":    object{"type": "integer", "minimum": 1, "description": "Where it begins."},
					"field":   text("The field at fault; missing for the line as a whole."),
					"message": text("What is wrong."),
				},
			}},
			"unreadableTotal": number("How many lines cannot be read."),
		},
	}
}

// operationTemplate describes GET /operations/template.csv.
func operationTemplate() object {
	return object{
		"operationId": "getOperationTemplate",
		"summary":     "A CSV file to fill in",
		"description": "Has the header with every column.",
		"tags":        []string{"operations"},
		"security":    []any{object{}},
		"responses": object{"200": object{
			"description": "The file.", "content": object{"text/csv": object{"schema": object{"type": "string"}}},
		}},
	}
}
