// GraphiQL keeps tabs and history here, under a prefix of our own: the origin
// may serve other pages with a GraphiQL.
import { sessionId } from '../session';

const prefix = 'simgraph:';

const own = () => Object.keys(localStorage).filter((key) => key.startsWith(`${prefix}graphiql:`));

export const storage = {
  get length() {
    return own().length;
  },
  clear: () => own().forEach((key) => localStorage.removeItem(key)),
  getItem: (key: string) => localStorage.getItem(prefix + key),
  // The editor writes after a while: nothing is kept once the session has ended.
  setItem: (key: string, value: string) => sessionId() !== null && localStorage.setItem(prefix + key, value),
  removeItem: (key: string) => localStorage.removeItem(prefix + key),
};
