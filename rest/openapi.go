package rest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// object is a JSON object.
type object = map[string]any

// contractVersion is that of the interface (spec §9).
const contractVersion = "4.0.0"

// contract describes all endpoints in OpenAPI 3.1, from what their operations
// and the graph say. publicURL is where clients reach them; "" stands for where they got
// the document.
func (all router) contract(schema *ast.Schema, publicURL string) ([]byte, error) {
	d := describer{schema: schema, schemas: object{"Error": errorSchema(), "OAuthError": oauthErrorSchema()}}
	paths := object{}
	for _, e := range all {
		item, ok := paths[e.path].(object)
		if !ok {
			item = object{}
			paths[e.path] = item
		}
		item[ascii.Lower(e.method)] = d.operation(e)
	}
	paths[UsageStream] = object{"post": usageStream()}
	paths[SourceRecordsPath] = object{"post": sourceRecords()}
	for _, e := range exports {
		paths[ExportPrefix+e.name] = object{"get": e.describe()}
	}
	paths[OperationsPath], paths[OperationsTemplatePath] = object{"post": operationStart()}, object{"get": operationTemplate()}
	paths[TokenPath] = object{"post": tokenExchange()}
	server, contact := "/", object{"name": "The operator of this service"}
	if publicURL != "" {
		server, contact["url"] = publicURL, publicURL
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title":   "simgraph",
			"version": contractVersion,
			"contact": contact,
			"description": "Subscribers, tags, groups, usage and monitoring alerts of a company. " +
				"Where a path fits two templates, /{tagName}/subscribers comes before /subscribers/{physicalId}.",
		},
		"servers":  []any{object{"url": server}},
		"tags":     tags(),
		"paths":    paths,
		"webhooks": webhooks(),
		"components": object{
			"schemas":   d.schemas,
			"responses": errorResponses(),
			"headers":   headers(),
			"securitySchemes": object{
				"oauth":           securityScheme(),
				"accessKey":       object{"type": "http", "scheme": "basic", "description": "The id and the secret of an access key."},
				"sourceBasic":     object{"type": "http", "scheme": "basic", "description": "The secret of a source as the password; any user name."},
				"sourceBearer":    object{"type": "http", "scheme": "bearer", "description": "The secret of a source."},
				"sourceSignature": object{"type": "apiKey", "in": "header", "name": "X-Signature", "description": "HMAC-SHA256 of the body by the secret of a source, in hexadecimal or base64; a source may name another header."},
			},
		},
	})
}

// describer collects the schemas that several endpoints share.
type describer struct {
	schema  *ast.Schema
	schemas object
}

func (d *describer) operation(e *endpoint) object {
	operation := object{
		"operationId": ascii.Lower(e.operation[:1]) + e.operation[1:],
		"summary":     e.summary,
		"description": "Needs the permissions: " + labels(e.permissions) + ".",
		"tags":        []string{e.noun},
		"security":    []any{object{"oauth": e.permissions}},
		"responses":   d.responses(e),
	}
	if parameters := e.parameters(); len(parameters) > 0 {
		operation["parameters"] = parameters
	}
	if e.has(inBody) {
		operation["requestBody"] = object{
			"required":    !e.bodyOptional(),
			"description": "Other properties that the resource has in answers are ignored; all else is refused.",
			"content":     object{"application/json": object{"schema": e.bodySchema(), "example": e.bodyExample()}},
		}
	}
	return operation
}

func labels(permissions []domain.Permission) string {
	names := make([]string, len(permissions))
	for i, p := range permissions {
		names[i] = p.Label()
	}
	return strings.Join(names, ", ")
}

func (e *endpoint) parameters() []any {
	var all []any
	for _, p := range e.params {
		if p.place == inBody {
			continue
		}
		all = append(all, object{
			"name": p.name, "in": p.place.String(), "required": p.required,
			"description": p.description, "schema": p.schema(), "example": example(e.operation, p.name),
		})
	}
	if e.paged {
		all = append(all, e.pageParameters()...)
	}
	return all
}

func (e *endpoint) pageParameters() []any {
	b := e.bounds()
	skipped := object{"type": "integer", "minimum": 0, "default": 0}
	limit := object{"type": "integer", "minimum": 0, "maximum": b.most, "default": b.usual}
	return []any{
		object{"name": "limit", "in": "query", "schema": limit, "example": examples["limit"], "description": fmt.Sprintf("How many; %d when missing or 0, and %d for more than that.", b.usual, b.most)},
		object{"name": "offset", "in": "query", "schema": skipped, "example": examples["offset"], "description": "How many to skip."},
	}
}

func (d *describer) responses(e *endpoint) object {
	responses := object{}
	for _, name := range e.problems() {
		responses[name] = object{"$ref": "#/components/responses/" + name}
	}
	if e.wrapper == "" {
		responses["204"] = object{"description": "Done."}
		return responses
	}
	success := object{
		"description": e.summary + ".",
		"content": object{"application/json": object{"schema": object{
			"type":       "object",
			"required":   []string{e.wrapper},
			"properties": object{e.wrapper: d.value(e.outline.findBody())},
		}}},
	}
	if shown := e.headers(); len(shown) > 0 {
		success["headers"] = shown
	}
	responses["200"] = success
	return responses
}

// headers are those of a success.
func (e *endpoint) headers() object {
	shown := object{}
	if e.outline.count(func(m marks) bool { return m.total }) > 0 {
		shown["X-Total-Count"] = object{"$ref": "#/components/headers/X-Total-Count"}
	}
	if e.paged {
		shown["Link"] = object{"$ref": "#/components/headers/Link"}
	}
	return shown
}

// problems are the statuses of the errors that an endpoint may answer with.
func (e *endpoint) problems() []string {
	names := []string{"400", "401", "403", "429", "500", "503"}
	if e.has(inPath) || e.has(inBody) {
		names = append(names, "404")
	}
	if e.has(inBody) {
		names = append(names, "413", "415")
	}
	return names
}

func errorSchema() object {
	text := object{"type": "string"}
	return object{
		"type": "object", "required": []string{"error"},
		"properties": object{"error": object{
			"type": "object", "required": []string{"message", "code"},
			"properties": object{
				"message": object{"type": "string", "description": "What is wrong, in words."},
				"code":    object{"type": "string", "description": "What is wrong, for programs."},
				"details": object{
					"type": "array", "description": "What is wrong with which field.",
					"items": object{"type": "object", "required": []string{"field", "reason"}, "properties": object{"field": text, "reason": text}},
				},
				"requestId": object{"type": "string", "description": "The X-Request-Id of the request, which the log names too."},
			},
		}},
	}
}

// errorResponses are the documented errors by their status.
func errorResponses() object {
	responses := object{}
	for status, description := range map[string]string{
		"400": "INVALID_PARAMETER: something in the path or the query is wrong; INVALID_BODY: something in the body.",
		"401": "UNAUTHORIZED: no access token; INVALID_TOKEN: one that is unknown, expired or revoked.",
		"403": "FORBIDDEN: a permission is missing; the message names it.",
		"404": "INVALID_PROPERTY: an identifier matches nothing on the account.",
		"413": "PAYLOAD_TOO_LARGE: the body is over 1 MB.",
		"415": "UNSUPPORTED_MEDIA_TYPE: the body is not JSON in UTF-8.",
		"429": "RATE_LIMITED: too much in a short time; Retry-After is when to come back.",
		"500": "INTERNAL_ERROR: a fault of the service.",
		"503": "UNAVAILABLE: the service cannot answer now; Retry-After is when to come back.",
	} {
		responses[status] = failure(description)
	}
	return responses
}

func headers() object {
	return object{
		"X-Total-Count": object{"description": "The length of the whole list.", "schema": object{"type": "integer"}},
		"Link":          object{"description": "The next and prev page (RFC 8288), relative to the request.", "schema": object{"type": "string"}},
	}
}

func securityScheme() object {
	scopes := object{}
	for _, p := range domain.AllPermissions() {
		scopes[string(p)] = p.Label()
	}
	return object{
		"type":        "oauth2",
		"description": "An access key is exchanged for an access token, which is sent as Authorization: Bearer <ACCESS_TOKEN>.",
		"flows":       object{"clientCredentials": object{"tokenUrl": TokenPath, "scopes": scopes}},
	}
}
