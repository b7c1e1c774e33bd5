package rest

// examples are values of parameters and properties of bodies, by their names; those that
// differ between operations by the operation, too.
var examples = map[string]any{
	"physicalId": "8944500102030405069", "nickname": "Van 12", "tagName": "fleet", "name": "Vans", "email": "alerts@acme.example",
	"id": 17, "subscriberGroupId": 12, "limit": 25, "offset": 0, "startDate": "2026-11-01", "endDate": "2026-11-08",
	"ruleType": "sim", "target": "8944500102030405069", "lowerThreshold": 800_000_000, "upperThreshold": 1_000_000_000,
	"ListSubscribers.filter": "isActive eq true", "ListSubscribers.orderBy": "nickname desc",
	"ListAlerts.filter": "ruleType eq sim", "ListAlerts.orderBy": "dateCreated desc",
	"ListAlertLog.filter": "limitBoundary eq upper", "ListAlertLog.orderBy": "dateCreated desc",
	"map": []string{"ICCID=physicalId", "Remarks="}, "validateOnly": true, "errorPolicy": "REJECT_FAILED_ROWS", "expect": 1_500, "silence": true, "create": true,
	"reason": "Ticket 4711: the vans of the north were sold",
	"digest": "5f2b6c1d9a3e4f708192a3b4c5d6e7f8",
}

// example is that of a parameter of an operation; nil where there is none.
func example(operation, name string) any {
	if own, is := examples[operation+"."+name]; is {
		return own
	}
	return examples[name]
}

// bodyExample has the examples of all properties that a body may have.
func (e *endpoint) bodyExample() object {
	body := object{}
	for _, p := range e.params {
		if p.place == inBody {
			body[p.name] = example(e.operation, p.name)
		}
	}
	return body
}

const exampleFile = "physicalId,nickname,addTags\n8944500102030405069,Van 12,fleet|north\n"

// exampleRecords are read by the ready profile csv.
const exampleRecords = "physicalId,startedAt,endedAt,mobileOriginated,mobileTerminated\n8944500102030405069,2026-11-20T10:00:00Z,2026-11-20T10:05:00Z,1200,48000\n"

// usageExample is a record of the stream.
func usageExample() object {
	return object{
		"source": "pgw-1", "recordId": "pgw-1-000017", "physicalId": "8944500102030405069", "startedAt": "2026-11-20T10:00:00Z", "endedAt": "2026-11-20T10:05:00Z",
		"mobileOriginated": 1_200, "mobileTerminated": 48_000, "protocol": "TCP",
	}
}

// tagDescriptions say what the operations of a tag are about, in their order in the document.
var tagDescriptions = [][2]string{
	{"subscriber", "Subscribers of the company and their nicknames."},
	{"tag", "Tags that subscribers carry."},
	{"group", "Groups of subscribers."},
	{"analytics", "Usage and sessions by hour, subscriber, protocol and address."},
	{"alert", "Alerts on the volume of usage, and their log."},
	{"recipient", "Recipients of alert mail."},
	{"usage", "Usage records of network elements."},
	{"export", "Files of rows for analysts."},
	{"operations", "Changes of many subscribers by a file."},
	{"access", "Access tokens."},
}

func tags() []any {
	all := make([]any, len(tagDescriptions))
	for i, tag := range tagDescriptions {
		all[i] = object{"name": tag[0], "description": tag[1]}
	}
	return all
}
