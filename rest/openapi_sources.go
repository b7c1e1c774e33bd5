package rest

// SourceRecordsPath is where a source posts records to, which is no operation on the graph:
// they are read by the profile of the source.
const SourceRecordsPath = "/sources/{sourceId}/records"

// sourceRecords describes POST /sources/{sourceId}/records.
func sourceRecords() object {
	count := func(description string) object {
		return object{"type": "integer", "minimum": 0, "description": description}
	}
	responses := object{"200": object{
		"description": "All records are stored, those that cannot be used as rejects of the source: none need be sent again. To send one again changes nothing.",
		"content": object{"application/json": object{"schema": object{
			"type": "object", "required": []string{"accepted", "duplicates", "waiting", "rejected", "skipped"},
			"properties": object{
				"accepted":   count("In the ledger and all totals."),
				"duplicates": count("Booked before."),
				"waiting":    count("Kept until their subscribers appear."),
				"rejected":   count("Kept with the reasons why they cannot be used."),
				"skipped":    count("Left out by the profile."),
			},
		}}},
	}}
	responses["400"] = failure("INVALID_PARAMETER: the body broke off, or has an encoding other than gzip. Nothing was stored.")
	responses["401"] = failure("UNAUTHORIZED: there is no such source, or the secret is another.")
	responses["405"] = failure("METHOD_NOT_ALLOWED: the path serves POST.")
	responses["413"] = failure("PAYLOAD_TOO_LARGE: the body has more than 3,000 records or 16 MB, also once decompressed. Nothing was stored.")
	responses["503"] = failure("UNAVAILABLE: the source is paused, or the records cannot be stored now; see Retry-After. Send them again.")
	return object{
		"operationId": "postSourceRecords",
		"summary":     "Post the records of a source",
		"description": "Takes what a carrier or platform sends of itself, read by the profile of the source: JSON, NDJSON, CSV or CloudEvents, whatever Content-Type is; " +
			"at most 3,000 records or 16 MB, as they are or with Content-Encoding: gzip.",
		"tags":     []string{"usage"},
		"security": []any{object{"sourceBasic": []string{}}, object{"sourceBearer": []string{}}, object{"sourceSignature": []string{}}},
		"parameters": []any{object{
			"name": "sourceId", "in": "path", "required": true, "description": "In the path of the source, as the graph shows it.", "schema": object{"type": "string"},
			"example": "src_1_4TBRYQ7JRBSDNX5UWFH6KZ3VQE",
		}},
		"requestBody": object{
			"required": true, "description": "What the sender sends.",
			"content": object{"*/*": object{"schema": object{}, "example": exampleRecords}},
		},
		"responses": responses,
	}
}
