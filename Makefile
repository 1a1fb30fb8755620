# `make help` lists the targets. README.md describes the two to start with.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BUILD      := .build
BIN        := $(BUILD)/bin
IMAGES     := $(BUILD)/images
MODULE     := github.com/terrarium-garden/terrarium
VERSION    ?= v0.1.0-dev
K8S        := 1.36.3
LINT       := v2.15.0
# A later nfpm needs a module that is not served by every proxy.
NFPM       := v2.43.0

# Binaries, tests and linter use the same build flags, so that they share the build cache. The last tag excludes a library that
# opens shared objects at run time, which static binaries cannot do.
export CGO_ENABLED := 1
export GOFLAGS := -buildvcs=false -trimpath -tags=netgo,osusergo,sqlite_omit_load_extension,no_antithesis_sdk
# The commit of this program and its time, which /version and the user agents of clients have; unknown without git.
COMMIT     := $(shell test "$$(git rev-parse --show-toplevel 2>/dev/null)" = "$(CURDIR)" && git rev-parse HEAD)
TREE       := $(if $(COMMIT),$(if $(shell git --no-optional-locks status --porcelain --untracked-files=no 2>/dev/null),dirty,clean))
DATE       := $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
K8S_FLAGS := -X k8s.io/component-base/version.gitVersion=v$(K8S) \
	-X k8s.io/component-base/version.gitMajor=$(word 1,$(subst ., ,$(K8S))) \
	-X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(K8S))) \
	-X k8s.io/component-base/version.gitCommit=$(COMMIT) \
	-X k8s.io/component-base/version.gitTreeState=$(TREE) \
	-X k8s.io/component-base/version.buildDate=$(or $(DATE),1970-01-01T00:00:00Z) \
	-X k8s.io/client-go/pkg/version.gitVersion=v$(K8S) \
	-X k8s.io/client-go/pkg/version.gitCommit=$(COMMIT) \
	-X $(MODULE)/appliance/build.Version=$(VERSION)
# The linter vets the code, tests included; each test need not do it once more.
GO_TEST := go test -vet=off
LDFLAGS := -s -w $(K8S_FLAGS) -extldflags "-static"

##@ The two commands of the README
.PHONY: up
up: ## Bring up a garden, a seed and a running shoot on this machine
	@scripts/playground up

SERVED := test-integration test-compat test-conformance test-consistency-short

.PHONY: test
test: $(if $(LONG),test-long,lint verify test-unit test-layers $(SERVED) test-e2e-short) ## Check a change; with LONG=1 also for races, with faults and datastores, in browsers, and the whole story end to end

.PHONY: test-long
test-long: # LIMIT is the time in seconds that it may take.
	@LIMIT=$(LIMIT) scripts/test-long

# What downloads does not wait for what compiles, and the other way round.
.PHONY: ready
ready: ## Run verify and test-unit, and meanwhile install and build what the other tests need
	@$(MAKE) -j2 installed build
	@$(MAKE) -j3 images-patch verify test-unit

.PHONY: installed
installed: prerequisites
	@for what in browser datastores observability; do scripts/prerequisites $$what; done

##@ Playground
.PHONY: down
down: ## Remove everything that `make up` created
	@scripts/playground down

.PHONY: status
status: ## Show which parts of the playground run
	@scripts/playground status

.PHONY: prerequisites
prerequisites: ## Install missing prerequisites of the playground with the system's package manager
	@scripts/prerequisites install

##@ Build
.PHONY: build
build: $(BIN)/terrarium $(BIN)/seedling ## Build the two binaries into .build/bin

GO_SOURCES := $(shell find apis appliance controllers packaging storage -type f -not -name '*_test.go' 2>/dev/null) $(wildcard webui/*.go) go.mod go.sum
WEBUI_SOURCES := $(shell find webui -type f -not -path '*/node_modules/*' -not -path 'webui/dist/*' -not -path 'webui/e2e/*' -not -name '*.go' -not -name '*.test.ts' 2>/dev/null)

# Without Node, the binary is built without the web UI, or with the one that was built before.
WEBUI := $(if $(shell scripts/webui check 2>/dev/null),webui/dist/index.html)

webui/dist/index.html: $(WEBUI_SOURCES)
	@scripts/webui build

.PHONY: webui
webui: webui-node $(WEBUI) ## Build the web UI into webui/dist (needs Node)

.PHONY: webui-node
webui-node:
	@scripts/webui check >/dev/null || echo "make: so the binary has $(if $(wildcard webui/dist/index.html),the web UI of the last build,no web UI)" >&2

$(BIN)/terrarium: $(GO_SOURCES) $(WEBUI) | webui-node
	@mkdir -p $(BIN)
	go build -ldflags '$(LDFLAGS)' -o $@ ./appliance

$(BIN)/seedling: $(GO_SOURCES)
	@mkdir -p $(BIN)
	go build -ldflags '$(LDFLAGS)' -o $@ ./appliance/seedling

.PHONY: images
images: prerequisites build ## Build the image archives of the playground into .build/images
	@scripts/playground images

# The same programs with another patch version of Kubernetes, to which the end-to-end tests update a shoot. Only linking is repeated.
PATCH_K8S := 1.36.4

.PHONY: images-patch
images-patch: images
	@$(MAKE) K8S=$(PATCH_K8S) BIN=$(BUILD)/patch $(BUILD)/patch/seedling
	@$(BUILD)/patch/seedling images build --only seedling,machine --out $(BUILD)/patch/images

.PHONY: package
package: build $(BIN)/nfpm-$(NFPM) ## Build what is released into .build/dist: archive, deb, rpm, chart, container image, SBOM and checksums
	@NFPM=$(BIN)/nfpm-$(NFPM) scripts/package $(VERSION)

$(BIN)/nfpm-$(NFPM):
	@mkdir -p $(BIN)
	cd $(BIN) && GOBIN=$(CURDIR)/$(BIN) go install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM)
	@mv $(BIN)/nfpm $@

##@ Check
# Without a limit the linter takes twice as much memory as it has in use: 21 GB.
.PHONY: lint
lint: $(BIN)/golangci-lint-$(LINT) ## Run golangci-lint (configured in .golangci.yml)
	@$(BIN)/golangci-lint-$(LINT) config verify 2>/dev/null || true
	GOMEMLIMIT=12GiB $(BIN)/golangci-lint-$(LINT) run ./...
	cd tests/extension && go vet ./...

$(BIN)/golangci-lint-$(LINT):
	@mkdir -p $(BIN)
	cd $(BIN) && GOBIN=$(CURDIR)/$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT)
	@mv $(BIN)/golangci-lint $@

.PHONY: gen
gen: ## Regenerate deep copies, protobuf, OpenAPI, model names and CRDs
	@scripts/gen

.PHONY: verify
verify: ## Check that generated code, go.mod and the catalogue of rules are up to date
	@scripts/verify

.PHONY: test-unit
test-unit: ## Run unit tests
	$(GO_TEST) -timeout 20m $$(go list ./... | grep -v '/tests/')

.PHONY: test-race
test-race: ## Run the unit tests of packages with goroutines under the race detector
	$(GO_TEST) -race -timeout 20m ./controllers/flow/... ./controllers/flowmetrics/... ./controllers/kit/... ./appliance/runner/... ./appliance/authorization/... ./controllers/operation/... ./controllers/gardenlet/shoot \
		./controllers/scheduler/picture ./controllers/secrets ./controllers/nodeagent ./controllers/garden/plant ./controllers/garden/controllerregistration \
		./storage/log/... ./storage/kine/... ./storage/local/... ./storage/backup ./storage/generations ./storage/registry/kind ./storage/registry/fresh ./storage/registry/bytecache \
		./appliance/admission/holdings ./appliance/admission/world ./appliance/auditlog ./appliance/gateway/... ./appliance/gardenlet/journal

.PHONY: test-integration
test-integration: ## Run tests against a real server in the test process
	$(GO_TEST) -timeout 30m ./tests/harness/... ./tests/integration/...

.PHONY: test-compat
test-compat: ## Compare what a garden publishes with Gardener's API: a percentage for each group, and all differences
	$(GO_TEST) -count=1 -timeout 10m -v -run TestGarden ./tests/compat

.PHONY: test-conformance
test-conformance: ## Vary each field of an object of each kind, and compare the answers with the golden files
	$(GO_TEST) -count=1 -timeout 10m ./tests/conformance

.PHONY: test-layers
test-layers: ## Check the import rules between packages
	$(GO_TEST) -count=1 ./tests/layers/...

.PHONY: test-install
test-install: package $(BIN)/seedling ## Install, kill, upgrade and remove the packages under a real systemd, and join a gardenlet as a service (root, Linux, Debian's debootstrap; see docs/install.md)
	@scripts/prerequisites machine
	@DIST=$(BUILD)/next NFPM=$(BIN)/nfpm-$(NFPM) scripts/package $(VERSION).next packages
	@system=$$(scripts/systemd-rootfs) && $(GO_TEST) -count=1 -timeout 15m -v ./tests/install -system "$$system" -packages $(abspath $(BUILD)/dist) -newer $(abspath $(BUILD)/next) -cluster $(abspath $(BIN)/seedling)

FUZZTIME ?= 30s

.PHONY: fuzz
fuzz: ## Fuzz decoding, defaulting, validation and admission, FUZZTIME (30s) each
	@for package in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for target in $$(go test $$package -list '^Fuzz' | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO_TEST) $$package -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x || exit 1; \
		done; \
	done

.PHONY: test-faults-short
test-faults-short: ## Kill and abuse servers, fill their disks, lose their machines, and let a year pass; the short form of test-faults
	$(GO_TEST) -count=1 -timeout 30m ./tests/faults/...

ROUNDS ?= 200

.PHONY: test-faults
test-faults: ## The same, with figures, ROUNDS (200) servers killed under a thousand writers, and the increments of snapshots that a garden has by default
	$(GO_TEST) -count=1 -timeout 120m -v ./tests/faults -rounds $(ROUNDS) -increments 30s -written 90s
	$(GO_TEST) -count=1 -timeout 15m -v ./tests/faults/disk ./tests/faults/year

.PHONY: test-datastores
test-datastores: ## Run gardens on a real PostgreSQL and MariaDB (from the system's packages) and a real etcd, lose them, and migrate between them
	@scripts/prerequisites datastores
	$(GO_TEST) -count=1 -timeout 30m ./tests/datastores

.PHONY: test-observability
test-observability: ## Check the alerts and the dashboard with promtool (from the system's packages), and that each alert fires on its case
	@scripts/prerequisites observability
	$(GO_TEST) -count=1 -timeout 5m -v ./tests/observability

.PHONY: test-consistency-short
test-consistency-short: ## Run the short form of test-consistency, under a minute
	$(GO_TEST) -count=1 -timeout 10m ./tests/consistency

CONSISTENCY_TIME ?= 10m

.PHONY: test-consistency
test-consistency: ## Look for reads and watches that are not linearizable, for CONSISTENCY_TIME (10m)
	$(GO_TEST) -count=1 -timeout 60m -v ./tests/consistency -long $(CONSISTENCY_TIME)

.PHONY: test-consistency-faults
test-consistency-faults: ## Reintroduce known faults of the store one by one, and check that test-consistency finds them
	$(GO_TEST) -count=1 -timeout 60m -v -run TestFaultsPutBack ./tests/consistency -faults

.PHONY: test-ui
test-ui: $(WEBUI) | webui-node ## Test the web UI: types, lint, units, and in a real browser (installs Chromium; see docs/ui.md)
	@scripts/webui test
	@scripts/prerequisites browser
	$(GO_TEST) -count=1 -timeout 30m -v -run TestBrowser ./tests/ui -browser $(if $(SCREENSHOTS),-screenshots $(abspath $(SCREENSHOTS)))

.PHONY: test-ui-scale
test-ui-scale: $(WEBUI) | webui-node ## Test what the web UI costs with 2,000 shoots, and with 1,000 changes a second
	@scripts/prerequisites browser
	$(GO_TEST) -count=1 -timeout 20m -v -run TestBudgets ./tests/ui -browser

.PHONY: test-e2e
test-e2e: prerequisites images-patch ## Run the end-to-end tests on a real seed (root, Linux)
	$(GO_TEST) -count=1 -timeout 60m -v ./tests/e2e/...

.PHONY: test-e2e-short
test-e2e-short: prerequisites images ## The same, without the chapters that kill, replace, rotate or put to sleep
	$(GO_TEST) -count=1 -timeout 30m -v -short -run TestStory ./tests/e2e

##@ Measure
BENCH      ?= .
BENCH_TIME ?= 2000x

.PHONY: bench-api
bench-api: ## Measure the throughput and the processor time of a server process over TLS (see docs/performance.md)
	go test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCH_TIME) -timeout 60m ./tests/bench
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./storage/registry/bytecache

.PHONY: bench-start
bench-start: ## Measure how long a server takes to start again, with no objects, with 10,000, and with 2,000 shoots
	go test -run '^$$' -bench Start -benchtime 5x -timeout 20m ./tests/bench -start

.PHONY: bench-store
bench-store: ## Compare the store with Kine's own log and with etcd, on the same disk (see docs/performance.md)
	go test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCH_TIME) -timeout 60m ./tests/bench/store

.PHONY: bench-store-hour
bench-store-hour: ## Write an hour of heartbeats of 1,000 nodes, 1.8 million writes, as fast as possible (takes most of an hour)
	go test -run '^$$' -bench Heartbeats -benchtime 1800000x -timeout 180m ./tests/bench/store

.PHONY: bench-memory
bench-memory: ## Change 100 objects of a garden for a minute, and measure its memory then and a minute later
	go test -count=1 -v -run TestMemory ./tests/bench -memory 1m

BURST        ?= 500
PRESENT      ?= 10000
IDLE_TIME    ?= 1m
RENEWAL_TIME ?= 10m

.PHONY: bench-controllers
bench-controllers: bench-burst bench-idle bench-renewals ## Measure the controllers: bursts of shoots, and gardenlets by the hundred (see docs/performance.md)

.PHONY: bench-burst
bench-burst: ## Order BURST shoots at once in a garden with few shoots and in one with PRESENT, the scheduler at work
	go test -count=1 -v -timeout 60m -run TestBurst ./tests/bench -burst $(BURST) -present $(PRESENT)

.PHONY: bench-idle
bench-idle: ## Measure what 100 gardenlets with 2,000 shoots cost a server when nothing happens
	go test -count=1 -v -timeout 60m -run TestGardenlets ./tests/bench -gardenlets 100 -tended 2000 -shift $(IDLE_TIME)

SHOOTS ?= 8

.PHONY: bench-seed
bench-seed: prerequisites images ## Measure what SHOOTS (8) shoots cost their seed at rest, and how long it takes until one answers (root, Linux)
	go test -count=1 -v -timeout 60m -run TestDensity ./tests/e2e -density $(SHOOTS)

.PHONY: bench-renewals
bench-renewals: ## Let 1,000 gardenlets with 10,000 shoots renew their leases for RENEWAL_TIME before and after the server is killed
	go test -count=1 -v -timeout 90m -run TestGardenlets ./tests/bench -gardenlets 1000 -tended 10000 -shift $(RENEWAL_TIME) -restart

##@ Housekeeping
.PHONY: fmt
fmt: $(BIN)/golangci-lint-$(LINT) ## Format the sources
	$(BIN)/golangci-lint-$(LINT) fmt ./...

.PHONY: clean
clean: ## Remove the build output (the playground must be down)
	rm -rf $(BUILD)

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-zA-Z0-9_-]+:.*##/ {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
