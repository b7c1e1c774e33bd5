# simgraph: the commands that people use. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

GOLANGCI_LINT := bin/golangci-lint-v2.15.0
VALE := bin/vale-v3.7.1
GOVULNCHECK := bin/govulncheck-v1.8.0
CYCLONEDX := bin/cyclonedx-gomod-v1.9.0

.PHONY: help postgres build release run test system nightly citus faults fuzz race lint prose vuln generate client client-typescript check-generated e2e bench soak web check-web ci

help: ## List the targets.
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

postgres: ## Install PostgreSQL's programs where they are missing.
	@sh scripts/install-postgres.sh

build: ## Build ./simgraph.
	go build -o simgraph .

release: ## Build ./simgraph to deploy it, without paths and symbols; with VERSION=1.2.3 all files of that release into dist/.
ifdef VERSION
	@CYCLONEDX=$(CURDIR)/$(CYCLONEDX) bash scripts/release.sh "$(VERSION)"
else
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o simgraph .
endif

ifdef VERSION
release: $(CYCLONEDX)
endif

$(CYCLONEDX):
	GOBIN=$(CURDIR)/bin go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
	mv bin/cyclonedx-gomod $@

run: postgres build ## Build and serve the demo company on http://127.0.0.1:8080.
	./simgraph serve --demo

# What make test runs: what stands below test takes minutes, and so do the tests that start,
# kill and share PostgreSQL's processes.
QUICK = $$(go list ./... | grep -vE '/test/|/db/embedded$$')
# What make system runs.
SYSTEM = . ./db/embedded $$(go list ./test/... | grep -v '/test/faults$$')

# Many tests wait for a server: more of them run at once than there are cores, and in make test
# three packages on two.
WAITING = -parallel 4

# SHARED runs a command whose test binaries share one PostgreSQL server.
SHARED = go run ./db/dbtest/share

# go vet is a linter: make lint runs it, for all packages at once. In make race it would take
# more than two minutes of CPU again.
test: postgres ## Run the tests of the packages, with fewer random cases; Go alone is needed.
	$(SHARED) go test -short -vet=off -p 3 $(WAITING) -timeout 15m $(QUICK)
	cd clients/go && go test ./...

system: postgres ## Run the tests of the built program and of its PostgreSQL, of security, and of services on several servers; takes minutes.
	$(SHARED) go test -vet=off $(WAITING) -timeout 30m $(SYSTEM)

nightly: postgres ## Run the tests with all random cases, and more for two minutes each (BUDGET=10m).
	SIMGRAPH_TEST_BUDGET="$${BUDGET:-2m}" $(SHARED) go test -count=1 -timeout 6h $(QUICK) $(SYSTEM)

citus: postgres ## Run the tests of the stores on Citus of one node: of their own where PostgreSQL has it, or at DATABASE_URL.
	SIMGRAPH_TEST_CITUS="$${DATABASE_URL:-1}" go test -p 1 -count=1 -timeout 60m $${PACKAGES:-./db/... ./internal/bundle ./internal/mail ./internal/webhook}

faults: postgres ## Break the database, network, clock and disk of the built server under load; takes minutes.
	go test -vet=off -count=1 -timeout 30m ./test/faults

fuzz: ## Run every fuzz target for a minute (FUZZTIME), for a nightly job; keep what fails in testdata/fuzz.
	./scripts/fuzz.sh

race: postgres ## Run the tests of packages with goroutines, with fewer random cases, under the race detector.
	raced=$$(sh scripts/raced.sh) && $(SHARED) go test -race -short -vet=off -count=1 -timeout 30m $$raced

lint: $(GOLANGCI_LINT) prose ## Run the linters, and make prose.
	go vet ./...
	$(GOLANGCI_LINT) run ./...
	cd clients/go && $(CURDIR)/$(GOLANGCI_LINT) run ./...

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv bin/golangci-lint $@

prose: $(VALE) ## Read the documents by the rules of styles/simgraph.
	$(VALE) --output=line README.md CONTRIBUTING.md CHANGELOG.md docs deploy

$(VALE):
	GOBIN=$(CURDIR)/bin go install github.com/errata-ai/vale/v3/cmd/vale@v3.7.1
	mv bin/vale $@

vuln: $(GOVULNCHECK) ## Fail when the code can reach a known vulnerability; needs the network.
	@GOVULNCHECK=$(GOVULNCHECK) bash scripts/vuln.sh

$(GOVULNCHECK):
	GOBIN=$(CURDIR)/bin go install golang.org/x/vuln/cmd/govulncheck@v1.8.0
	mv bin/govulncheck $@

generate: ## Write graph/generated and resolvers/resolvers.generated.go again from graph/schema.
	go run ./graph/plan/generator

client: ## Write the Go client again from docs/schema.graphql and clients/go/operations.graphql.
	cd clients/go && go tool genqlient genqlient.yaml

client-typescript: ## Write the TypeScript client again from docs/schema.graphql and the operations of both clients, and build it; Node is needed.
	cd clients/typescript && npm ci --no-audit --no-fund --ignore-scripts --silent && npm run --silent generate && npm run --silent build

check-generated: client ## Fail when graph/generated, what is derived in graph/schema, or the Go client is stale.
	go run ./graph/plan/generator
	git diff --exit-code -- graph clients resolvers/resolvers.generated.go
	@test -z "$$(git status --porcelain -- graph clients)" || { git status --short -- graph clients; exit 1; }

web: ## Build the page for people again, into web/dist; Node is needed.
	cd web && npm ci --no-audit --no-fund --ignore-scripts --silent && npm run --silent check && npm run --silent build
	go run ./web/pack

check-web: web client-typescript ## Test the parts of the page and the TypeScript client, and fail when web/dist or the client is not what its sources make.
	cd web && npm run --silent test
	cd clients/typescript && npm run --silent test
	git diff --exit-code --stat -- web/dist clients/typescript
	@test -z "$$(git status --porcelain -- web/dist clients/typescript)" || { git status --short -- web/dist clients/typescript; exit 1; }

e2e: postgres build ## Audit the real server with Node's GraphQL clients.
	sh test/e2e/run.sh

bench: postgres release ## Measure, beside the ceilings of the same machine.
	go run ./test/bench

soak: postgres release ## Run the server for ten minutes under load, and look for what grows.
	go run ./test/bench soak

ci: ## What runs for every change.
	bash .ci/run
