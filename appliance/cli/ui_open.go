// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/terrarium-garden/terrarium/appliance/gateway/ui"
)

// usedInterval is the time between two questions whether the link was used.
const usedInterval = 300 * time.Millisecond

// openLink opens the link in the browser. Other users can see the arguments of processes, so the browser is given a private file
// that leads to the link. The file is removed when the link was used, or is too old.
func (o *uiOptions) openLink(ctx context.Context, g *garden, url string, link ui.Link) (err error) {
	dir, err := os.MkdirTemp("", "terrarium-ui-") // With mode 0700.
	if err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "sign-in.html")
	page := fmt.Sprintf("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"+
		"<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n<title>Terrarium</title>\n", html.EscapeString(url))
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	open := o.env.Open
	if open == nil {
		open = openBrowser
	}
	if err := open(ctx, file); err != nil {
		return withHint(fmt.Errorf("open the browser: %w", err), "run the command without --open, and open the printed link")
	}
	o.env.tell("Signing in to the web UI in your browser ...\n")
	return o.awaitUse(ctx, g, link)
}

// awaitUse returns when the link was used, and an error if it was not in time.
func (o *uiOptions) awaitUse(ctx context.Context, g *garden, link ui.Link) error {
	ticker := o.env.Clock.NewTicker(usedInterval)
	defer ticker.Stop()
	for {
		err := g.client.Discovery().RESTClient().Get().AbsPath(ui.LinksPath).Param(ui.HashParameter, link.Hash()).Do(ctx).Error()
		switch {
		case apierrors.IsNotFound(err) && o.env.Clock.Now().Before(link.Expires):
			return nil
		case apierrors.IsNotFound(err):
			return withHint(errors.New("the link was not used within a minute"), "run the command without --open, and open the printed link")
		case err != nil:
			return fmt.Errorf("wait for the sign-in: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C():
		}
	}
}

func openBrowser(ctx context.Context, file string) error {
	program, arguments := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program, arguments = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	if err := exec.CommandContext(ctx, program, arguments...).Run(); err != nil { //nolint:gosec // the program is one of three
		return fmt.Errorf("run %q: %w", program, err)
	}
	return nil
}
