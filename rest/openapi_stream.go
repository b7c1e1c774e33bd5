package rest

import "simgraph/domain"

// UsageStream is the path of the stream of usage, which is no operation on the
// graph: its lines are booked and answered as they come.
const UsageStream = "/usage/records"

// usageStream describes POST /usage/records.
func usageStream() object {
	responses := object{"200": object{
		"description": "One line for each record, in the order of the records, sent as each is committed. When the stream cannot go on, " +
			"the last line is an Error and the connection is cut: send again what was not answered. To send a record again changes nothing.",
		"content": object{"application/x-ndjson": object{"schema": recordedLine()}},
	}}
	for _, status := range []string{"400", "401", "403", "429", "500", "503"} {
		responses[status] = object{"$ref": "#/components/responses/" + status}
	}
	responses["413"] = failure("PAYLOAD_TOO_LARGE: the stream is longer than the service takes; what came before is booked.")
	responses["415"] = failure("UNSUPPORTED_MEDIA_TYPE: the body is not application/x-ndjson, or it is compressed.")
	return object{
		"operationId": "recordUsage",
		"summary":     "Record usage",
		"description": "Takes a stream of any length. Needs the permissions: " + domain.RecordUsage.Label() + ".",
		"tags":        []string{"usage"},
		"security":    []any{object{"oauth": []domain.Permission{domain.RecordUsage}}},
		"requestBody": object{
			"required": true, "description": "A record a line.",
			"content": object{"application/x-ndjson": object{"schema": usageLine()}},
		},
		"responses": responses,
	}
}

func failure(description string) object {
	return object{
		"description": description,
		"content":     object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}},
	}
}

func usageLine() object {
	text := func(description string) object { return object{"type": "string", "description": description} }
	maybe := func(description string) object {
		return object{"type": []string{"string", "null"}, "description": description}
	}
	bytes := func(description string) object {
		return object{"type": "integer", "minimum": 0, "maximum": int64(domain.MaxCounter), "description": description}
	}
	counters := object{
		"type": "string", "enum": []domain.UsageCounters{domain.DeltaCounters, domain.CumulativeCounters},
		"description": "What the bytes count: since the last record (DELTA, or missing), or since the session began (CUMULATIVE), of which is booked what " +
			"is above the highest so far.",
	}
	return object{
		"type": "object", "additionalProperties": false,
		"required": []string{"source", "physicalId", "startedAt", "endedAt", "mobileOriginated", "mobileTerminated", "protocol"},
		"properties": object{
			"type":             object{"const": "usage", "description": "As in bundles."},
			"company":          text("That of the access token, as in bundles."),
			"source":           text("The network element that reports."),
			"counters":         counters,
			"recordId":         maybe("Unique for the source; equal records are one when it is missing. Cumulative records need none."),
			"physicalId":       text("ICCID, device EUI or IMEI."),
			"sessionId":        maybe("The session, unique for the subscriber; missing outside of sessions. A cumulative record needs it."),
			"sequence":         object{"type": []string{"integer", "null"}, "minimum": 0, "description": "The number of the record in its session; 0 is the first."},
			"startedAt":        text("When the usage started; of a cumulative record, when the session began."),
			"endedAt":          text("When it ended, at most 10 minutes from now; of a cumulative record, when the bytes were counted."),
			"mobileOriginated": bytes("Bytes sent, see counters; at most 2^40 since the last record."),
			"mobileTerminated": bytes("Bytes received, see counters; at most 2^40 since the last record."),
			"protocol":         text("The network protocol, such as TCP."),
			"ipAddress":        maybe("The IP address of the subscriber; missing for what has none."),
		},
	}
}

func recordedLine() object {
	return object{
		"type": "object", "required": []string{"line", "status"},
		"properties": object{
			"line": object{"type": "integer", "minimum": 1, "description": "The line of the record in the body."},
			"status": object{
				"type": "string",
				"enum": []domain.UsageStatus{domain.UsageAccepted, domain.UsageDuplicate, domain.UsageQuarantined, domain.UsageConflict, domain.UsageRejected},
				"description": "accepted: in the ledger and all totals; duplicate: was there before; quarantined: kept until the subscriber appears; " +
					"conflict: another record has the id; rejected: breaks a rule. The last two are not kept.",
			},
			"reason": object{"type": "string", "description": "Why the record is not kept."},
			"field":  object{"type": "string", "description": "The field at fault."},
		},
	}
}
