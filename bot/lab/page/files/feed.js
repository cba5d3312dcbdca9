// The demo's side: what it tells (server-sent events) and what may be asked of it.

const EVENTS = ["hello", "demo", "phone", "group", "room", "journal", "heads", "memory"];

export function feed(listeners) {
  const source = new EventSource("/events");
  source.addEventListener("open", listeners.open);
  source.addEventListener("error", listeners.closed);
  for (const name of EVENTS) {
    source.addEventListener(name, (event) => listeners[name](JSON.parse(event.data)));
  }
}

// Returns whether it was done; if not, `complain` is told why.
export async function ask(name, body, complain) {
  try {
    const answer = await fetch(`/do/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.ok) return true;
    complain((await answer.json()).error);
  } catch {
    complain("The demo does not answer; is it still running?");
  }
  return false;
}
