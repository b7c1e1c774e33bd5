package mail

import (
	"encoding/base64"
	"errors"
	netmail "net/mail"
	"strings"
)

// encodedWord is how encoded text begins in a header (RFC 2047). Mail programs
// decode it wherever it stands, so text of users must not hold it as it is.
const encodedWord = "=?"

// headerText returns the text in a form that a mail program shows as it was.
// go-mail encodes what is not ASCII; what is left is ASCII that would be decoded, or
// whose blanks are lost where the header is folded.
func headerText(text string) string {
	if !isASCII(text) || !strings.Contains(text, encodedWord) && !strings.Contains(text, "  ") && strings.TrimSpace(text) == text {
		return text
	}
	const most = 45 // bytes in an encoded word, which has at most 75 characters
	var words []string
	for ; len(text) > most; text = text[most:] {
		words = append(words, encodeWord(text[:most]))
	}
	return strings.Join(append(words, encodeWord(text)), " ")
}

func encodeWord(text string) string {
	return "=?utf-8?b?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > '~' }) < 0
}

// parseSender reads the address that mails come from. A name that is written as an
// encoded word is decoded by that, so its control characters are replaced.
func parseSender(text string) (*netmail.Address, error) {
	from, err := netmail.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	from.Name = strings.TrimSpace(clean(from.Name))
	if strings.Contains(from.Name, encodedWord) { // would be written in quotes, where some mail programs decode it all the same
		return nil, errors.New("the name holds =?, which begins encoded text")
	}
	return from, nil
}
