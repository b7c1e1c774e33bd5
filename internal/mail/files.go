package mail

import (
	"context"
	"os"
	"path/filepath"

	gomail "github.com/wneessen/go-mail"

	"simgraph/domain"
)

// files writes mails to a directory, for installations without a mail server.
type files struct{ dir string }

func (f files) String() string { return f.dir }

// send writes the file whole or not at all.
func (f files) send(_ context.Context, message *gomail.Msg, mail *domain.Mail) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(f.dir, ".mail-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // after the rename there is none
	if _, err := message.WriteTo(file); err != nil {
		_ = file.Close() // the first error matters
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join(f.dir, mail.MailID+".eml"))
}
