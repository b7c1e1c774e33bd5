package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"simgraph/domain/ascii"
)

type kind int

const (
	end kind = iota
	word
	quoted
	opening
	closing
	comma
	bad
)

// token is a piece of text with its place.
type token struct {
	kind kind
	// text is what the token means, without quotes and escapes; of a bad token
	// the reason.
	text string
	// raw is the token as written.
	raw string
	// column counts characters from 1.
	column int
}

// is reports whether the token is that keyword, in any case.
func (t token) is(keyword string) bool {
	return t.kind == word && ascii.EqualFold(t.text, keyword)
}

// keyword reports whether the token is a word that needs quotes to be a value.
func (t token) keyword() bool {
	_, isOp := findOp(t.text)
	return t.kind == word && (isOp || t.is("and") || t.is("or") || t.is("not"))
}

// lexer cuts a text into tokens, one at a time.
type lexer struct {
	rest   string
	column int
}

// newLexer returns a lexer, or as a bad token the first reason to refuse the text
// as a whole.
func newLexer(text string) (*lexer, *token) {
	column := 0
	for at, r := range text {
		column++
		var reason string
		switch {
		case at >= MaxBytes:
			reason = tooLong
		case r == utf8.RuneError && !strings.HasPrefix(text[at:], "\uFFFD"):
			reason = "not valid UTF-8"
		case r == 0:
			reason = "NUL is in no text"
		default:
			continue
		}
		return nil, &token{kind: bad, text: reason, raw: string(r), column: column}
	}
	return &lexer{rest: text, column: 1}, nil
}

func (l *lexer) next() token {
	l.skipBlanks()
	if l.rest == "" {
		return token{kind: end, column: l.column}
	}
	switch l.rest[0] {
	case '(':
		return l.token(opening, 1)
	case ')':
		return l.token(closing, 1)
	case ',':
		return l.token(comma, 1)
	case '"':
		return l.doubleQuoted()
	case '\'':
		return l.singleQuoted()
	}
	return l.word()
}

func (l *lexer) skipBlanks() { l.take(len(l.rest) - len(strings.TrimLeft(l.rest, blanks))) }

// take moves on by n bytes.
func (l *lexer) take(n int) string {
	taken := l.rest[:n]
	l.rest = l.rest[n:]
	l.column += utf8.RuneCountInString(taken)
	return taken
}

// token takes n bytes that mean themselves.
func (l *lexer) token(k kind, n int) token {
	t := token{kind: k, column: l.column}
	t.raw = l.take(n)
	t.text = t.raw
	return t
}

func (l *lexer) bad(n int, reason string) token {
	t := l.token(bad, n)
	t.text = reason
	return t
}

// doubleQuoted reads "…", in which a backslash escapes a quote or a backslash.
func (l *lexer) doubleQuoted() token {
	var text strings.Builder
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; c {
		case '"':
			t := l.token(quoted, i+1)
			t.text = text.String()
			return t
		case '\\':
			i++
			if i == len(l.rest) || l.rest[i] != '"' && l.rest[i] != '\\' {
				return l.bad(i, `in "…" a backslash stands before " or \ only`)
			}
			text.WriteByte(l.rest[i])
		default:
			text.WriteByte(c)
		}
	}
	return l.bad(len(l.rest), "the closing quote is missing")
}

// singleQuoted reads '…', in which two quotes stand for one.
func (l *lexer) singleQuoted() token {
	for i := 1; i < len(l.rest); i++ {
		switch {
		case l.rest[i] != '\'':
		case strings.HasPrefix(l.rest[i+1:], "'"):
			i++
		default:
			t := l.token(quoted, i+1)
			t.text = strings.ReplaceAll(t.raw[1:i], "''", "'")
			return t
		}
	}
	return l.bad(len(l.rest), "the closing quote is missing")
}

// word reads a bareword: the name of a field, a keyword or an operator.
func (l *lexer) word() token {
	n := len(l.rest) - len(strings.TrimLeftFunc(l.rest, inWord))
	if n == 0 {
		_, size := utf8.DecodeRuneInString(l.rest)
		return l.bad(size, "not part of the language; put texts into quotes")
	}
	return l.token(word, n)
}

// value reads what stands where a value is expected: a quoted text, or a bare one of
// any number of words.
func (l *lexer) value(inList bool) token {
	l.skipBlanks()
	if l.rest == "" || strings.IndexByte("(),\"'", l.rest[0]) >= 0 && (inList || l.rest[0] != ',') {
		return l.next()
	}
	n := bareLength(l.rest, inList)
	if n == 0 { // a keyword stands in the place of the value
		return l.next()
	}
	if n < len(l.rest) && l.rest[n] == '(' {
		return l.bad(n+1, "put a value with parentheses into quotes")
	}
	return l.token(word, len(strings.TrimRight(l.rest[:n], blanks)))
}

const blanks = " \t\r\n"

// bareLength returns how many bytes of the text belong to a bare value: up to a
// parenthesis, in a list a comma, or "and" or "or" between blanks.
func bareLength(text string, inList bool) int {
	wordBegins := true
	for i := range len(text) {
		switch c := text[i]; {
		case c == ')', c == '(', c == ',' && inList:
			return i
		case wordBegins && joins(text[i:]):
			return i
		default:
			wordBegins = strings.IndexByte(blanks, c) >= 0
		}
	}
	return len(text)
}

// joins reports whether the text begins with the keyword "and" or "or".
func joins(text string) bool {
	n := strings.IndexAny(text, blanks+"(")
	if n < 0 {
		n = len(text)
	}
	return ascii.EqualFold(text[:n], "and") || ascii.EqualFold(text[:n], "or")
}

func inWord(r rune) bool {
	return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit) || strings.ContainsRune("_.:-+@/", r)
}
