package mail

import (
	"errors"

	gomail "github.com/wneessen/go-mail"
)

// outcome tells what an error of sending means for the mail.
type outcome int

const (
	// passing: another attempt may succeed.
	passing outcome = iota
	// permanent: this mail will never be taken.
	permanent
	// refused: no mail to this address will ever be taken.
	refused
)

// errUnwritable marks a mail that cannot even be written.
var errUnwritable = errors.New("the mail cannot be written")

// judge tells refusals of the address from failures that pass. What a server
// says before it hears of the recipient, such as that it does not trust us, is
// no fault of the address.
func judge(err error) outcome {
	if errors.Is(err, errUnwritable) {
		return permanent
	}
	failed, ok := errors.AsType[*gomail.SendError](err)
	if !ok || failed.ErrorCode() < 500 {
		return passing
	}
	switch failed.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		return refused
	}
	return passing
}
