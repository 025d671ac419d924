// One certificate by way of istio-agent: its secret manager, which makes the key and the request, its client of the certificate
// service with the retries it comes with, and its files. They are written as an agent writes them (OUTPUT_CERTS): key.pem,
// cert-chain.pem and root-cert.pem, the last from the end of the chain. Exits with 1 and the reason when it gets none.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/structpb"
	pb "istio.io/api/security/v1alpha1"
	istiogrpc "istio.io/istio/pilot/pkg/grpc"
	"istio.io/istio/pkg/security"
	"istio.io/istio/security/pkg/credentialfetcher/plugin"
	"istio.io/istio/security/pkg/nodeagent/cache"
	"istio.io/istio/security/pkg/nodeagent/caclient"
	"istio.io/istio/security/pkg/nodeagent/caclient/providers/citadel"
)

func main() {
	options := &security.Options{WorkloadRSAKeySize: 2048}
	var roots, tokenFile string
	var impersonate bool
	flag.StringVar(&options.CAEndpoint, "ca", "", "host:port of the CA")
	flag.StringVar(&options.CAEndpointSAN, "ca-name", "", "name in the CA's certificate; empty: the host")
	flag.StringVar(&roots, "ca-roots", "", "file with the roots of the CA's certificate")
	flag.StringVar(&tokenFile, "token", "", "file with the token")
	flag.StringVar(&options.TrustDomain, "trust-domain", "cluster.local", "of the identity")
	flag.StringVar(&options.WorkloadNamespace, "namespace", "", "of the identity")
	flag.StringVar(&options.ServiceAccount, "account", "", "of the identity")
	flag.StringVar(&options.ClusterID, "cluster", "Kubernetes", "id of the cluster")
	flag.StringVar(&options.ECCSigAlg, "ecc", "", "ECDSA for a P-256 key; empty: RSA, as is the agent's default")
	flag.DurationVar(&options.SecretTTL, "ttl", time.Hour, "lifetime to ask for")
	flag.BoolVar(&impersonate, "impersonate", false, "ask as a node agent, whose token it then is")
	flag.StringVar(&options.OutputKeyCertToDir, "out", "", "directory for the files")
	flag.Parse()
	options.CredFetcher = plugin.CreateTokenPlugin(tokenFile)

	if err := fetch(options, roots, impersonate); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fetch(options *security.Options, roots string, impersonate bool) error {
	client, err := newClient(options, roots, impersonate)
	if err != nil {
		return err
	}
	manager, err := cache.NewSecretManagerClient(client, options)
	if err != nil {
		return err
	}
	defer manager.Close()
	_, err = manager.GenerateSecret(security.WorkloadKeyCertResourceName)
	return err
}

func newClient(options *security.Options, roots string, impersonate bool) (security.Client, error) {
	if !impersonate {
		return citadel.NewCitadelClient(options, &citadel.TLSOptions{RootCert: roots})
	}
	return newNodeClient(options, roots)
}

// nodeClient asks for the identity of another on its node, as ztunnel does; Istio's client in Go cannot. The connection, its
// credentials and retries are those of that client.
type nodeClient struct {
	connection *grpc.ClientConn
	identity   string
	clusterID  string
}

func newNodeClient(options *security.Options, roots string) (security.Client, error) {
	tls := &istiogrpc.TLSOptions{RootCert: roots, ServerAddress: options.CAEndpoint, SAN: options.CAEndpointSAN}
	dial, err := istiogrpc.ClientOptions(nil, tls)
	if err != nil {
		return nil, err
	}
	dial = append(dial, grpc.WithPerRPCCredentials(caclient.NewDefaultTokenProvider(options)), security.CARetryInterceptor())
	connection, err := grpc.NewClient(options.CAEndpoint, dial...)
	if err != nil {
		return nil, err
	}
	identity := fmt.Sprintf("spiffe://%s/ns/%s/sa/%s", options.TrustDomain, options.WorkloadNamespace, options.ServiceAccount)
	return &nodeClient{connection, identity, options.ClusterID}, nil
}

func (c *nodeClient) CSRSign(csr []byte, seconds int64) ([]string, error) {
	ctx := metadata.AppendToOutgoingContext(context.Background(), "clusterid", c.clusterID)
	answer, err := pb.NewIstioCertificateServiceClient(c.connection).CreateCertificate(ctx, &pb.IstioCertificateRequest{
		Csr:              string(csr),
		ValidityDuration: seconds,
		Metadata: &structpb.Struct{Fields: map[string]*structpb.Value{
			security.ImpersonatedIdentity: structpb.NewStringValue(c.identity),
		}},
	})
	return answer.GetCertChain(), err
}

func (c *nodeClient) GetRootCertBundle() ([]string, error) { return nil, nil }

func (c *nodeClient) Close() { _ = c.connection.Close() }
