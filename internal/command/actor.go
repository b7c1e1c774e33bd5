package command

import (
	"os"
	"os/user"

	"simgraph/domain"
)

// actor is the account that runs a command, for the audit log.
func actor(command string) *domain.Actor {
	by := &domain.Actor{Name: "unknown", Origin: domain.Origin{Door: command}}
	if account, err := user.Current(); err == nil {
		by.Name = account.Username
	}
	by.Address, _ = os.Hostname() // a machine without a name has none
	return by
}
