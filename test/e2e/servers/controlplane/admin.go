package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// serveAdmin answers, over HTTP:
//
//	GET  /seen                the calls of clients
//	PUT  /behaviour           sets the faults; GET: the remaining ones
//	PUT  /resources/PROXY     replaces the resources of POD.NAMESPACE
//	GET  /roots               the trusted roots, PEM
//	POST /root?step=          trust-both, sign-by-new, drop-old
//	POST /serving?name=       the names in this server's certificate; &foreign=true: with an untrusted root
//	POST /clock?ahead=        sets its clock ahead of the machine's, as in "1h"; a negative duration sets it back
//	POST /door?name=&open=    opens or closes a listener (secure, plain) and its connections
func (p *plane) serveAdmin(listener net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /seen", func(w http.ResponseWriter, _ *http.Request) {
		p.seen.change(func() { json.NewEncoder(w).Encode(p.seen) })
	})
	mux.HandleFunc("GET /behaviour", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(p.behaviour.get())
	})
	mux.HandleFunc("PUT /behaviour", p.putBehaviour)
	mux.HandleFunc("PUT /resources/{proxy}", p.putResources)
	mux.HandleFunc("GET /roots", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, p.authority.roots())
	})
	mux.HandleFunc("POST /root", func(w http.ResponseWriter, r *http.Request) {
		answer(w, p.authority.turn(r.FormValue("step")))
	})
	mux.HandleFunc("POST /serving", p.postServing)
	mux.HandleFunc("POST /clock", func(w http.ResponseWriter, r *http.Request) {
		ahead, err := time.ParseDuration(r.FormValue("ahead"))
		answer(w, err)
		offset.Store(int64(ahead))
	})
	mux.HandleFunc("POST /door", p.postDoor)
	return http.Serve(listener, mux)
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (p *plane) putBehaviour(w http.ResponseWriter, r *http.Request) {
	var told behaviour
	if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
		answer(w, err)
		return
	}
	p.behaviour.set(told)
}

func (p *plane) putResources(w http.ResponseWriter, r *http.Request) {
	var messages []json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&messages); err != nil {
		answer(w, err)
		return
	}
	answer(w, p.store.set(r.PathValue("proxy"), messages))
}

func (p *plane) postServing(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		answer(w, err)
		return
	}
	names := r.Form["name"]
	if len(names) == 0 {
		names = servingNames
	}
	answer(w, p.authority.serve(names, r.FormValue("foreign") == "true"))
}

func (p *plane) postDoor(w http.ResponseWriter, r *http.Request) {
	chosen := map[string]*door{"secure": p.secure, "plain": p.plain}[r.FormValue("name")]
	if chosen == nil {
		answer(w, fmt.Errorf("no such door: %q", r.FormValue("name")))
	} else if r.FormValue("open") == "true" {
		answer(w, chosen.start())
	} else {
		chosen.stop()
	}
}
