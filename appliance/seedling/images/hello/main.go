// SPDX-License-Identifier: Apache-2.0

// Hello answers HTTP requests on port 8080 with the name of its host, which shows the pod behind a Service that answered.
// With a URL as argument it requests the URL and prints the answer, and with a name it prints the addresses of the name, so
// that a pod can test a Service. With a dash it greets each line of its standard input, for `kubectl attach`.
// With "count" and a URL it requests the URL 20 times a second until it is ended, on a connection of its own each time, and prints
// how many requests were answered.
//
// If /etc/hello has a certificate, tls.crt and tls.key, it also is an admission webhook: on port 8443, under /validate, it
// refuses objects with the label hello=unwelcome.
//
// Under the name tar it packs and unpacks archives as `kubectl cp` asks for.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a client may take for its request, and a server for its answer.
const patience = 10 * time.Second

func main() {
	if err := run(os.Args, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // This is a main function.
	}
}

// run does what the name of the program and its arguments say.
func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case filepath.Base(args[0]) == "tar":
		return archive(args[1:], in, out)
	case len(args) == 1:
		return serve()
	case args[1] == "-":
		return greet(in, out)
	case args[1] == "count" && len(args) > 2:
		return count(args[2], out)
	default:
		return try(args[1], out)
	}
}

func serve() error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read host name: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- server(":8080", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "Hello from %s\n", host)
		})).ListenAndServe()
	}()
	if _, err := os.Stat(certificate); err == nil {
		go func() { ended <- server(":8443", webhook()).ListenAndServeTLS(certificate, key) }()
	}
	return <-ended
}

func server(address string, handler http.Handler) *http.Server {
	return &http.Server{Addr: address, ReadHeaderTimeout: patience, Handler: handler}
}

// greet greets the person that a line of the input names.
func greet(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if _, err := fmt.Fprintf(out, "Hello, %s\n", lines.Text()); err != nil {
			return fmt.Errorf("greet: %w", err)
		}
	}
	return lines.Err()
}

func try(what string, out io.Writer) error {
	if strings.Contains(what, "://") {
		return ask(what, out)
	}
	addresses, err := net.LookupHost(what) //nolint:noctx,gosec // The resolver has its own timeout, and the purpose of the program is to look up its argument.
	if err != nil {
		return fmt.Errorf("look up %q: %w", what, err)
	}
	_, err = fmt.Fprintln(out, strings.Join(addresses, "\n"))
	return err
}

// ask prints what a server answers.
func ask(url string, out io.Writer) error {
	client := &http.Client{Timeout: patience}
	answer, err := client.Get(url) //nolint:noctx,gosec // The client has a timeout, and the purpose of the program is to request its argument.
	if err != nil {
		return fmt.Errorf("ask %q: %w", url, err)
	}
	defer answer.Body.Close() //nolint:errcheck // The program ends here.
	if _, err := io.Copy(out, answer.Body); err != nil {
		return fmt.Errorf("read answer of %q: %w", url, err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%q answered %s", url, answer.Status)
	}
	return nil
}

// count prints each request that fails, and the numbers of requests and failures once a second.
func count(url string, out io.Writer) error {
	// A connection that is kept would stay with one pod, and hide that new ones are refused.
	client := &http.Client{Timeout: patience / 2, Transport: &http.Transport{DisableKeepAlives: true}}
	asked, failed := 0, 0
	said := time.Now()                           //nolint:forbidigo // This program is not tested with a clock.
	for range time.Tick(50 * time.Millisecond) { //nolint:forbidigo // It counts until it is ended.
		asked++
		if err := fetch(client, url); err != nil {
			failed++
			_, _ = fmt.Fprintln(out, "failed:", err)
		}
		if time.Since(said) >= time.Second {
			said = time.Now() //nolint:forbidigo // As above.
			_, _ = fmt.Fprintf(out, "asked %d, failed %d\n", asked, failed)
		}
	}
	return nil // The ticker does not end.
}

func fetch(client *http.Client, url string) error {
	answer, err := client.Get(url) //nolint:noctx,gosec // The client has a timeout, and the purpose of the program is to request its argument.
	if err != nil {
		return fmt.Errorf("ask %q: %w", url, err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	err = errors.Join(err, answer.Body.Close())
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%q answered %s", url, answer.Status)
	}
	return err
}
