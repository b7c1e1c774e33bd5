package rest

// TokenPath is where an access key is exchanged for an access token.
const TokenPath = "/oauth/token"

// tokenExchange describes POST /oauth/token (RFC 6749 §4.4, RFC 7523).
func tokenExchange() object {
	text := func(description string) object { return object{"type": "string", "description": description} }
	// Postman fills forms in with the examples of their fields.
	field := func(example, description string) object {
		return object{"type": "string", "description": description, "example": example}
	}
	responses := object{"200": object{
		"description": "The access token.",
		"content": object{"application/json": object{"schema": object{
			"type": "object", "required": []string{"access_token", "token_type", "expires_in", "scope"},
			"properties": object{
				"access_token": text("Sent as Authorization: Bearer <ACCESS_TOKEN>."),
				"token_type":   object{"type": "string", "enum": []string{"Bearer"}, "description": "How the token is sent."},
				"expires_in":   object{"type": "integer", "format": "int32", "description": "The seconds for which it lives."},
				"scope":        text("The permissions of the token, with blanks between them."),
			},
		}}},
	}}
	for status, description := range map[string]string{
		"400": "The request is wrong, a scope is unknown or not held, or the assertion is refused.", "401": "The access key is unknown, expired or revoked.",
		"413": "The body is larger than 64 kB.", "429": "Too much in a short time; see Retry-After.", "503": "The service cannot answer now; see Retry-After.",
	} {
		responses[status] = object{
			"description": description,
			"content":     object{"application/json": object{"schema": object{"$ref": "#/components/schemas/OAuthError"}}},
		}
	}
	return object{
		"operationId": "exchangeKey",
		"summary":     "Exchange an access key for an access token",
		"description": "The client-credentials grant of OAuth 2.0. The access key is sent by HTTP Basic or as client_id and client_secret. Where the operator has registered the program, the JWT bearer grant of RFC 7523 takes a signed token of the program's own issuer instead of a key, once.",
		"tags":        []string{"access"},
		"security":    []any{object{"accessKey": []string{}}, object{}},
		"requestBody": object{
			"required": true,
			"content": object{"application/x-www-form-urlencoded": object{"example": object{"grant_type": "client_credentials", "scope": "VIEW_SUBSCRIBER"}, "schema": object{
				"type": "object", "required": []string{"grant_type"},
				"properties": object{
					"grant_type":    object{"type": "string", "enum": []string{"client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, "description": "The kind of grant.", "example": "client_credentials"},
					"assertion":     field("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lkLmFjbWUuZXhhbXBsZSJ9.c2lnbmF0dXJl", "The signed token (JWT) of the program's issuer, for the JWT bearer grant."),
					"scope":         field("VIEW_SUBSCRIBER", "The permissions that the token shall have, such as VIEW_SUBSCRIBER, with blanks between them; all of the key's or the program's when missing."),
					"client_id":     field("sgk_1_4TBRYQ7JRBSDNX5UWFH6KZ3VQE", "The id of the access key, unless it is sent by HTTP Basic."),
					"client_secret": field("the-secret-of-the-key", "Its secret, unless it is sent by HTTP Basic."),
				},
			}}},
		},
		"responses": responses,
	}
}

// oauthErrorSchema is an error of RFC 6749 §5.2.
func oauthErrorSchema() object {
	return object{
		"type": "object", "required": []string{"error", "error_description"},
		"properties": object{
			"error":             object{"type": "string", "description": "What is wrong, for programs."},
			"error_description": object{"type": "string", "description": "What is wrong, in words."},
		},
	}
}
