package mail

import (
	"context"
	"io"
	"os"
	"path/filepath"

	gomail "github.com/wneessen/go-mail"

	"simgraph/domain"
	"simgraph/internal/durable"
)

// files writes mails to a directory, for installations without a mail server.
type files struct{ dir string }

func (f files) String() string { return f.dir }

// send writes the file whole or not at all.
func (f files) send(_ context.Context, message *gomail.Msg, mail *domain.Mail) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return durable.Replace(filepath.Join(f.dir, mail.MailID+".eml"), func(file io.Writer) error {
		_, err := message.WriteTo(file)
		return err
	})
}
