// SPDX-License-Identifier: Apache-2.0

package coredns

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/coredns/caddy"
	_ "github.com/coredns/coredns/core/dnsserver" // the server itself; its plugins follow
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/file"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/header"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/rewrite"
	_ "github.com/coredns/coredns/plugin/template"
)

// serverType is the name of a DNS server in the library.
const serverType = "dns"

// Run serves DNS as the upstream program does, from the Corefile that the flag -conf names. A signal ends the process. It
// returns the exit status if the servers could not start.
func Run(args []string) int {
	err := run(args)
	fmt.Fprintln(os.Stderr, "Error:", err)
	return 1
}

func run(args []string) error {
	flags := flag.NewFlagSet("coredns", flag.ContinueOnError)
	file := flags.String("conf", "Corefile", "file with the configuration")
	if err := flags.Parse(args); err != nil {
		return err
	}
	log.SetOutput(os.Stdout)
	log.SetFlags(0)
	caddy.TrapSignals()
	server, err := Start(*file)
	if err != nil {
		return err
	}
	server.Wait()
	return errors.New("all servers have ended")
}

// Start starts the servers of a Corefile. It works only once in a process, because the library keeps its state in variables.
func Start(file string) (*caddy.Instance, error) {
	caddy.AppName, caddy.Quiet = "CoreDNS", true
	// The plugin "reload" uses the same loader.
	caddy.RegisterCaddyfileLoader("file", caddy.LoaderFunc(func(string) (caddy.Input, error) {
		content, err := os.ReadFile(file) //nolint:gosec // the caller names the file
		if err != nil {
			return nil, err
		}
		return caddy.CaddyfileInput{Contents: content, Filepath: file, ServerTypeName: serverType}, nil
	}))
	corefile, err := caddy.LoadCaddyfile(serverType)
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err)
	}
	server, err := caddy.Start(corefile)
	if err != nil {
		return nil, fmt.Errorf("start the servers of %q: %w", file, err)
	}
	return server, nil
}
