package upstream

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/domain/upstream"
)

// mostWrites bounds the edits that are sent where no pass is due, so that one can begin.
const mostWrites = 1_000

// write sends edits that wait, up to a number. Where none can be sent, they are put off.
func (p *pass) write(ctx context.Context, most int) error {
	if p.job.Upstream.Labels != upstream.WrittenThrough {
		return nil
	}
	for sent := 0; sent < most; {
		waiting, err := p.Queue.Writes(ctx, p.job, pageSize)
		if err != nil {
			return err
		}
		if len(waiting) == 0 {
			break
		}
		sending, together := errgroup.WithContext(ctx)
		sending.SetLimit(ofPass)
		for _, w := range waiting {
			sending.Go(func() error { return p.sendOne(together, w) })
		}
		if err := sending.Wait(); err != nil {
			if ctx.Err() == nil {
				err = errors.Join(err, p.Queue.PutOff(ctx, p.job, reasonOf(err)))
			}
			return err
		}
		sent += len(waiting)
	}
	return p.Queue.PutOff(ctx, p.job, "")
}

// sendOne sends an edit, and notes what became of it. The error is one that all others would
// have, too.
func (p *pass) sendOne(ctx context.Context, w *upstream.Write) error {
	err := p.mover.From.write(ctx, w)
	if err != nil && (ctx.Err() != nil || isOfAll(err)) {
		return err
	}
	refusal := ""
	if err != nil {
		refusal = reasonOf(err)
	}
	return p.Queue.Written(ctx, p.job, w, refusal)
}

// write makes a nickname or a tag there what it is here.
func (c *Client) write(ctx context.Context, w *upstream.Write) error {
	switch {
	case w.TagName == "":
		return c.send(ctx, http.MethodPatch, []string{"subscribers", w.PhysicalID}, map[string]string{"nickname": w.Nickname})
	case w.IsAttached:
		return c.send(ctx, http.MethodPost, []string{"subscribers", w.PhysicalID}, map[string]string{"tagName": w.TagName})
	}
	err := c.send(ctx, http.MethodDelete, []string{w.TagName, "subscribers", w.PhysicalID}, nil)
	if isNotFound(err) {
		return nil // it does not carry the tag
	}
	return err
}

// keepWriting sends edits while a pass runs, which may take hours.
func (p *pass) keepWriting(ctx context.Context) {
	if p.job.Upstream.Labels != upstream.WrittenThrough {
		return
	}
	for attempts := 0; ctx.Err() == nil; {
		pause := p.Look
		if attempts > 0 {
			pause = upstream.Next(p.Every, attempts)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if err := p.write(ctx, mostWrites); err == nil {
			attempts = 0
		} else {
			attempts++
		}
	}
}

// endWriting gives an upstream back whose edits were sent.
func (p *pass) endWriting(ctx context.Context, err error) Result {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err != nil && p.mover == nil { // the key cannot be read
		err = errors.Join(err, p.Queue.PutOff(last, p.job, reasonOf(err)))
	}
	isStopped := errors.Is(err, errStopped) || ctx.Err() != nil
	if released := p.Queue.Release(last, p.job, 0); released != nil { // the lease ends
		err = errors.Join(err, released)
	}
	switch {
	case isStopped:
		return Stopped
	case err != nil:
		return Failed
	}
	return Written
}
