SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# The linter's version is pinned in a module of its own.
STATICCHECK := go tool -modfile=test/tools/lint/go.mod staticcheck

# One package at a time: the tests run real etcd members, whose elections run
# late when another package's members share the two cores.
TESTFLAGS := -json -p 1 -timeout 20m

# -race needs a C compiler; test/setup.sh installs one, or says that there is none.
GOTEST = go test $$(command -v gcc >/dev/null && [[ $$(go env CGO_ENABLED) == 1 ]] && echo -race || true) $(TESTFLAGS)

# These run the program as processes, each of them a server that -race makes
# several times slower; what runs in them is tested with -race in its own package.
PLAIN := ./cmd/fencelock ./cmd/internal/cli ./test/chaos
RACED = $$(go list ./... | grep -v -e '/cmd/fencelock$$' -e '/cmd/internal/cli$$' -e '/test/chaos$$')

# In CI everything that the tests need can be had, so a skipped test is a failure;
# but for containers, since an engine may not run inside of another's container.
SKIPCHECK := go run ./test/skipcheck $(if $(filter true,$(CI)),-no-skips -may-skip github.com/fencelock/fencelock/test/deploy)

.PHONY: help build demo check test chaos soak mutants fmt clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

build: ## bin/fencelock, one static file
	CGO_ENABLED=0 go build -trimpath -o bin/fencelock ./cmd/fencelock

demo: build ## both failures that a fence prevents, on a cluster of three
	bin/fencelock demo

check: ## format, vet, staticcheck and the house rules; all other tests are "make test"
	@unformatted=$$(gofmt -l .); [[ -z $$unformatted ]] || { echo "not formatted, see make fmt:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	$(STATICCHECK) ./...
	go test ./test/rules

test: ## every test, with what it needs installed (root on Debian) or named as missing
	@test/setup.sh
	@echo "$(GOTEST) ./... and, without -race, $(PLAIN)" | sed 's/  */ /g'
	@{ status=0; $(GOTEST) $(RACED) || status=1; go test $(TESTFLAGS) $(PLAIN) || status=1; exit $$status; } | $(SKIPCHECK)

chaos: ## ten minutes of every kind of fault, and a report in chaos.html (root gets all kinds)
	@test/setup.sh
	go run ./test/chaos -minutes 10 -clock -html chaos.html

soak: ## the same for hours: make soak MINUTES=600
	@test/setup.sh
	go run ./test/chaos -minutes $(or $(MINUTES),120) -clock -html chaos.html -json chaos.json

mutants: ## opens each hole of the protocol again, and sees the tests and chaos object; half an hour
	@test/setup.sh
	go run ./test/mutants

fmt: ## gofmt everything
	gofmt -w .

clean: ## remove what build leaves behind
	rm -rf bin
