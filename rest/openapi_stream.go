package rest

import "simgraph/domain"

// UsageStream is the path of the stream of usage, which is no operation on the
// graph: its lines are booked and answered as they come.
const UsageStream = "/usage/records"

// usageStream describes POST /usage/records.
func usageStream() object {
	responses := object{"200": object{
		"description": "One line for each record, in the order of the records, sent as each is committed. With the parameter source: one line for each record that cannot be used, and at last one with the counts. When the stream cannot go on, " +
			"the last line is an Error and the connection is cut: send again what was not answered, with the parameter source all of it. To send a record again changes nothing.",
		"content": object{"application/x-ndjson": object{"schema": object{"anyOf": []object{recordedLine(), rejectedRecord(), sourceCounts()}}}},
	}}
	for _, status := range []string{"400", "401", "403", "404", "429", "500", "503"} {
		responses[status] = object{"$ref": "#/components/responses/" + status}
	}
	responses["413"] = failure("PAYLOAD_TOO_LARGE: the stream is longer than the service takes; what came before is booked.")
	responses["415"] = failure("UNSUPPORTED_MEDIA_TYPE: without the parameter source, the body is not application/x-ndjson, or it is compressed.")
	return object{
		"operationId": "recordUsage",
		"summary":     "Record usage",
		"description": "Takes a stream of any length. Needs the permissions: " + domain.RecordUsage.Label() + ".",
		"tags":        []string{"usage"},
		"security":    []any{object{"oauth": []domain.Permission{domain.RecordUsage}}},
		"parameters": []object{{
			"name": "source", "in": "query", "schema": object{"type": "string"}, "example": "carrier",
			"description": "The name of the source by whose profile the body is read, whatever its Content-Type; the body may be compressed by gzip.",
		}},
		"requestBody": object{
			"required": true, "description": "A record a line, or with the parameter source, what its profile reads: CSV, JSON, NDJSON or CloudEvents.",
			"content": object{
				"application/x-ndjson": object{"schema": usageLine(), "example": usageExample()},
				"text/csv":             object{"schema": object{"type": "string"}, "example": usageCSV},
			},
		},
		"responses": responses,
	}
}

// usageCSV is read by the profile csv.
const usageCSV = "physicalId,startedAt,endedAt,mobileOriginated,mobileTerminated,recordId\n" +
	"8944110068256270054,2026-11-19T10:00:00Z,2026-11-19T10:15:00Z,1200,48000,r-1\n"

// rejectedRecord is a record of a source that cannot be used.
func rejectedRecord() object {
	return object{
		"type": "object", "required": []string{"record", "status", "reason"},
		"properties": object{
			"record": object{"type": "integer", "minimum": 1, "description": "The place of the record in the body; the header of CSV is none."},
			"status": object{"const": "rejected"},
			"reason": object{"type": "string", "description": "Why the record cannot be used. It is kept, and can be replayed."},
			"field":  object{"type": "string", "description": "The field at fault."},
		},
	}
}

// sourceCounts is the last line for a source.
func sourceCounts() object {
	counts := object{}
	names := []string{"accepted", "duplicates", "rejected", "skipped", "waiting"}
	for _, name := range names {
		counts[name] = object{"type": "integer", "minimum": 0}
	}
	return object{"type": "object", "required": names, "properties": counts}
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
		"required": []string{"source", "startedAt", "endedAt", "mobileOriginated", "mobileTerminated"},
		"anyOf": []object{
			{"required": []string{"physicalId"}}, {"required": []string{"imsi"}}, {"required": []string{"msisdn"}}, {"required": []string{"subscriberId"}},
		},
		"properties": object{
			"type":             object{"const": "usage", "description": "As in bundles."},
			"company":          text("That of the access token, as in bundles."),
			"source":           text("The network element that reports."),
			"counters":         counters,
			"recordId":         maybe("Unique for the source; equal records are one when it is missing. Cumulative records need none."),
			"physicalId":       maybe("ICCID, device EUI or IMEI. One of physicalId, imsi, msisdn and subscriberId is needed; a record whose names are of different subscribers is rejected."),
			"imsi":             maybe("The IMSI: up to 15 digits. Of several subscribers that have it, the active and newest one is meant."),
			"msisdn":           maybe("The number in international form, with or without + or 00: the subscriberId of cellular subscribers."),
			"subscriberId":     maybe("The subscriberId as the inventory has it."),
			"sessionId":        maybe("The session, unique for the subscriber; missing outside of sessions. A cumulative record needs it, and one with a field of its session."),
			"sequence":         object{"type": []string{"integer", "null"}, "minimum": 0, "description": "The number of the record in its session; 0 is the first."},
			"startedAt":        text("When the usage started; of a cumulative record, when the session began."),
			"endedAt":          text("When it ended, at most 10 minutes from now; of a cumulative record, when the bytes were counted."),
			"mobileOriginated": bytes("Bytes sent, see counters; at most 2^40 since the last record."),
			"mobileTerminated": bytes("Bytes received, see counters; at most 2^40 since the last record."),
			"protocol":         maybe("The network protocol, such as TCP; IP when missing."),
			"ipAddress":        maybe("The IP address of the subscriber; missing for what has none."),
			"event":            object{"type": []string{"string", "null"}, "enum": []any{"START", "UPDATE", "STOP", nil}, "description": "What the record means for its session. A subscriber is online from START or UPDATE until STOP, or until nothing is reported for three intervals."},
			"cause":            maybe("Why the session ended."),
			"apn":              maybe("The access point."),
			"ratType":          maybe("The radio access, such as EUTRAN."),
			"imei":             maybe("The IMEI of the device, 14 to 16 digits."),
			"visitedNetwork":   maybe("MCC and MNC of the network that serves the device, such as 23415."),
			"nas":              maybe("The network element below the source. A source that reports events without one is a network element itself."),
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
