package domain

// Refusal is why an access key got no token. The client does not learn which it was.
type Refusal string

// The refusals, in the order in which they are looked for.
const (
	RefusedUnknownKey   Refusal = "unknownKey"
	RefusedWrongSecret  Refusal = "wrongSecret"
	RefusedRevoked      Refusal = "revoked"
	RefusedDisabledUser Refusal = "disabledUser"
	RefusedExpired      Refusal = "expired"
	RefusedScope        Refusal = "scopeNotHeld"
	// RefusedThrottled came too often to be looked at.
	RefusedThrottled Refusal = "throttled"
)

// Refusals are all of them.
var Refusals = []Refusal{
	RefusedUnknownKey, RefusedWrongSecret, RefusedRevoked, RefusedDisabledUser, RefusedExpired, RefusedScope, RefusedThrottled,
}
