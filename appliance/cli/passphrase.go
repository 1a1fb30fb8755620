// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// passphraseLimit is more than any passphrase has.
const passphraseLimit = 1 << 10

// readPassphrase reads the first line of a file or, without one, of the standard input. On a terminal, it asks for it, and does not show what
// is typed. It returns when ctx ends, even if nothing comes.
func readPassphrase(ctx context.Context, env Environment, path string) (string, error) {
	if path != "" {
		f, err := os.Open(path) //nolint:gosec // The path is the operator's own.
		if err != nil {
			return "", fmt.Errorf("--passphrase-file: %w", err)
		}
		defer f.Close() //nolint:errcheck // It was only read.
		return firstLine(ctx, f)
	}
	terminal, ok := env.In.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) {
		return firstLine(ctx, env.In)
	}
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return "", fmt.Errorf("read passphrase: %w", err)
	}
	env.tell("Passphrase: ")
	line, err := within(ctx, func() (string, error) {
		typed, err := term.ReadPassword(int(terminal.Fd()))
		return string(typed), err
	})
	env.tell("\n")
	if ctx.Err() != nil {
		// The one who reads has turned the echo off, and goes on to wait for a line.
		return "", errors.Join(ctx.Err(), term.Restore(int(terminal.Fd()), before))
	}
	return passphraseOf(line, err)
}

// firstLine reads up to the first line break and not further: the other end may stay open.
func firstLine(ctx context.Context, in io.Reader) (string, error) {
	line, err := within(ctx, func() (string, error) { return bufio.NewReader(io.LimitReader(in, passphraseLimit)).ReadString('\n') })
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return passphraseOf(line, err)
}

// within calls read, and does not wait for it any longer when ctx ends. Not every read can be interrupted, such as that of a terminal; one that
// is left behind ends with the process, which is about to end.
func within[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	if ctx.Err() != nil {
		return *new(T), ctx.Err()
	}
	results := make(chan result, 1)
	go func() {
		value, err := read()
		results <- result{value, err}
	}()
	select {
	case <-ctx.Done():
		return *new(T), ctx.Err()
	case r := <-results:
		return r.value, r.err
	}
}

// passphraseOf checks what was read.
func passphraseOf(line string, err error) (string, error) {
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read passphrase: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("the passphrase is empty")
	}
	return line, nil
}
