package main

import (
	"context"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const healthType = "type.googleapis.com/istio.v1.HealthInformation"

type discoveryService struct {
	discovery.UnimplementedAggregatedDiscoveryServiceServer
	plane *plane
}

// question has the common fields of both variants of the protocol.
type question struct {
	node    *core.Node
	typeURL string
	nonce   string
	detail  *rpc.Status
	// own are the fields of one variant.
	own any
}

// variant is the difference between state of the world and delta.
type variant interface {
	// answer sends the requested resources.
	answer(proxy string, asked question) error
	// refresh sends changed resources.
	refresh(proxy string) error
}

func (d *discoveryService) StreamAggregatedResources(stream discovery.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	receive := func() (question, error) {
		asked, err := stream.Recv()
		if err != nil {
			return question{}, err
		}
		return question{asked.Node, asked.TypeUrl, asked.ResponseNonce, asked.ErrorDetail, asked}, nil
	}
	return d.serve(stream.Context(), receive, newWhole(d.plane, stream), false)
}

func (d *discoveryService) DeltaAggregatedResources(stream discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	receive := func() (question, error) {
		asked, err := stream.Recv()
		if err != nil {
			return question{}, err
		}
		return question{asked.Node, asked.TypeUrl, asked.ResponseNonce, asked.ErrorDetail, asked}, nil
	}
	return d.serve(stream.Context(), receive, newDelta(d.plane, stream), true)
}

// serve runs one stream until its client or an error ends it.
func (d *discoveryService) serve(ctx context.Context, receive func() (question, error), variant variant, isDelta bool) error {
	record := &streamSeen{
		Delta: isDelta, Plain: isPlain(ctx), Token: hashed(bearer(ctx)), Headers: headersOf(ctx),
		Asked: []string{}, Refused: []refusal{}, Health: []string{}, Open: true,
	}
	d.plane.seen.change(func() { d.plane.seen.Streams = append(d.plane.seen.Streams, record) })
	err := d.run(ctx, receive, variant, record)
	d.plane.seen.change(func() { record.Open, record.Code = false, status.Code(err).String() })
	return err
}

func (d *discoveryService) run(ctx context.Context, receive func() (question, error), variant variant, record *streamSeen) error {
	first, err := receive()
	if err != nil {
		return err
	}
	if err := d.admit(ctx, first, record); err != nil {
		return err
	}
	proxy := proxyOf(first.node.GetId())
	questions, failed := make(chan question), make(chan error, 1)
	go func() {
		for asked, err := first, error(nil); ; asked, err = receive() {
			if err != nil {
				failed <- err
				return
			}
			select {
			case questions <- asked:
			case <-ctx.Done():
				return
			}
		}
	}()
	changed, unwatch := d.plane.store.watch()
	defer unwatch()
	for {
		err := error(nil)
		select {
		case err = <-failed:
		case <-ctx.Done():
			err = status.FromContextError(ctx.Err()).Err()
		case <-changed:
			err = variant.refresh(proxy)
		case asked := <-questions:
			if d.note(asked, record) {
				err = variant.answer(proxy, asked)
			}
		}
		if err != nil {
			return err
		}
	}
}

// admit authenticates a client like istiod: a token or a certificate over TLS, and a node with the same identity.
func (d *discoveryService) admit(ctx context.Context, first question, record *streamSeen) error {
	which := func(b *behaviour) *fault { return &b.XDS }
	if first.typeURL == nameTableType {
		which = func(b *behaviour) *fault { return &b.NDS }
	}
	if err := d.plane.behaviour.fail(ctx, which); err != nil {
		return err
	}
	identity := d.plane.identityOfToken(ctx)
	if identity == "" && bearer(ctx) == "" {
		identity = identityOfCertificate(ctx)
	}
	d.plane.seen.change(func() { record.Node, record.Identity = first.node.GetId(), identity })
	if len(strings.Split(first.node.GetId(), "~")) != 4 {
		return status.Errorf(codes.InvalidArgument, "missing parts in the service node %q", first.node.GetId())
	}
	if record.Plain {
		return nil
	}
	if identity == "" {
		return status.Error(codes.Unauthenticated, "authentication failure")
	}
	if !isNodeOf(first.node, identity) {
		return status.Errorf(codes.PermissionDenied, "%s is not the identity of node %s", identity, first.node.GetId())
	}
	return nil
}

func isNodeOf(node *core.Node, identity string) bool {
	fields := node.GetMetadata().GetFields()
	account := "/ns/" + fields["NAMESPACE"].GetStringValue() + "/sa/" + fields["SERVICE_ACCOUNT"].GetStringValue()
	return strings.HasSuffix(identity, account)
}

// note records a request. It returns whether the request needs an answer.
func (d *discoveryService) note(asked question, record *streamSeen) bool {
	d.plane.seen.mu.Lock()
	defer d.plane.seen.mu.Unlock()
	if asked.typeURL == healthType {
		record.Health = append(record.Health, asked.detail.GetMessage())
		return false
	}
	if asked.detail != nil {
		record.Refused = append(record.Refused, refusal{Type: asked.typeURL, Reason: asked.detail.Message})
		return false
	}
	for _, typeURL := range record.Asked {
		if typeURL == asked.typeURL {
			return true
		}
	}
	record.Asked = append(record.Asked, asked.typeURL)
	return true
}

// proxyOf returns POD.NAMESPACE of a node's id.
func proxyOf(id string) string {
	if parts := strings.Split(id, "~"); len(parts) == 4 {
		return parts[2]
	}
	return id
}

// wait delays answers by the fault's delay.
func (p *plane) wait(ctx context.Context, typeURL string) {
	told := p.behaviour.get()
	delay := told.XDS.DelayMillis
	if typeURL == nameTableType {
		delay = told.NDS.DelayMillis
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(delay) * time.Millisecond):
	}
}
