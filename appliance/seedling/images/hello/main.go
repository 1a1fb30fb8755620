// SPDX-License-Identifier: Apache-2.0

// Hello answers HTTP requests on port 8080 with the name of its host, which shows the pod behind a Service that answered.
// With a URL as argument it requests the URL and prints the answer, and with a name it prints the addresses of the name, so
// that a pod can test a Service. With "count" and a URL it requests the URL 20 times a second until it is ended, on a connection
// of its own each time, and prints how many requests were answered.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	run := serve
	switch {
	case len(os.Args) > 2 && os.Args[1] == "count":
		run = func() error { return count(os.Args[2]) }
	case len(os.Args) > 1:
		run = func() error { return try(os.Args[1]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // This is a main function.
	}
}

func serve() error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read host name: %w", err)
	}
	server := &http.Server{
		Addr:              ":8080",
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "Hello from %s\n", host)
		}),
	}
	return server.ListenAndServe()
}

func try(what string) error {
	if strings.Contains(what, "://") {
		return ask(what)
	}
	addresses, err := net.LookupHost(what) //nolint:noctx,gosec // The resolver has its own timeout, and the purpose of the program is to look up its argument.
	if err != nil {
		return fmt.Errorf("look up %q: %w", what, err)
	}
	_, err = fmt.Println(strings.Join(addresses, "\n")) //nolint:forbidigo // This is the output of the program.
	return err
}

// ask prints what a server answers.
func ask(url string) error {
	client := &http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(url) //nolint:noctx,gosec // The client has a timeout, and the purpose of the program is to request its argument.
	if err != nil {
		return fmt.Errorf("ask %q: %w", url, err)
	}
	defer answer.Body.Close() //nolint:errcheck // The program ends here.
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		return fmt.Errorf("read answer of %q: %w", url, err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%q answered %s", url, answer.Status)
	}
	return nil
}

// count prints each request that fails, and the numbers of requests and failures once a second.
func count(url string) error {
	// A connection that is kept would stay with one pod, and hide that new ones are refused.
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	asked, failed := 0, 0
	said := time.Now()                           //nolint:forbidigo // This program is not tested with a clock.
	for range time.Tick(50 * time.Millisecond) { //nolint:forbidigo // It counts until it is ended.
		asked++
		if err := request(client, url); err != nil {
			failed++
			fmt.Println("failed:", err) //nolint:forbidigo // This is the output of the program.
		}
		if time.Since(said) >= time.Second {
			said = time.Now()                                  //nolint:forbidigo // As above.
			fmt.Printf("asked %d, failed %d\n", asked, failed) //nolint:forbidigo // This is the output of the program.
		}
	}
	return nil // The ticker does not end.
}

func request(client *http.Client, url string) error {
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
