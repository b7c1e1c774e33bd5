package mail

import (
	"errors"
	"regexp"
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// outcome is what an error of sending means for the mail.
type outcome int

const (
	// temporary: another attempt may succeed.
	temporary outcome = iota
	// permanent: this mail will never be taken.
	permanent
	// badAddress: no mail to this address will ever be taken.
	badAddress
	// unexplained: the server refused the mail for good, because of the address
	// or because of us; the cause is unknown.
	unexplained
)

// errUnwritable marks a mail that cannot even be written.
var errUnwritable = errors.New("the mail cannot be written")

// judge separates refusals of the address from failures that are temporary or
// ours to fix. What a server answers before it has the recipient, such as that
// it does not trust us, is not about the address.
func judge(err error) outcome {
	if errors.Is(err, errUnwritable) {
		return permanent
	}
	failed, ok := errors.AsType[*gomail.SendError](err)
	if !ok || failed.ErrorCode() < 500 {
		return temporary
	}
	switch failed.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		if status := enhancedStatus(failed); status != "" {
			return judgeStatus(status)
		}
		return judgeCode(failed.ErrorCode())
	}
	return temporary
}

// judgeStatus decides by the enhanced status code (RFC 3463).
func judgeStatus(status string) outcome {
	switch status {
	case "5.2.1": // the mailbox is disabled
		return badAddress
	case "5.1.7", "5.1.8": // the sender's address
		return temporary
	case "5.2.2", "5.2.3": // the mailbox is full, the mail too large
		return temporary
	case "5.1.0": // an address, without saying whose
		return unexplained
	}
	switch class, _, _ := strings.Cut(strings.TrimPrefix(status, "5."), "."); class {
	case "1":
		return badAddress
	case "0", "2", "4":
		return unexplained
	}
	return temporary // 4.x.x, or of the server, protocol, content or policy
}

// judgeCode decides by the basic code of a server that gives no other. 552 is a
// mailbox that is full; 50x and 53x are about the session.
func judgeCode(code int) outcome {
	switch code {
	case 550, 551, 553, 554, 556:
		return unexplained
	}
	return temporary
}

// statusFirst matches an enhanced status code where RFC 2034 puts it: directly
// behind the basic code, which net/textproto prints before the quoted text.
// go-mail's own reading takes any number with two dots, such as a part of an IP
// address, and none of a server that does not announce such codes.
var statusFirst = regexp.MustCompile(`^\d{3} "?([245]\.\d{1,3}\.\d{1,3})(?:[ "\\]|$)`)

func enhancedStatus(failed *gomail.SendError) string {
	reply := strings.TrimPrefix(failed.Error(), failed.Reason.String()+": ")
	if found := statusFirst.FindStringSubmatch(reply); found != nil {
		return found[1]
	}
	return ""
}
