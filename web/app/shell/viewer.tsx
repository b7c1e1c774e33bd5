import { createContext, type ReactNode, useContext } from 'react';
import { useAsk } from '../graph/use';
import { signOut } from '../session';
import { Failure, Loading } from './parts';

export interface Period {
  start: string;
  end: string;
}

export interface Viewer {
  email: string;
  permissions: string[];
  isRestricted: boolean;
  tokenExpiresAt: string;
  company: { name: string; externalId: string; timeZone: string; currentPeriod: Period };
}

const query = `query Viewer {
  viewer { email permissions isRestricted tokenExpiresAt company { name externalId timeZone currentPeriod { start end } } }
}`;

const Context = createContext<Viewer | null>(null);

/** Who is signed in. Only below SignedIn. */
export const useViewer = (): Viewer => useContext(Context)!;

/** Whether the caller has all of the permissions. */
export function useMay(...permissions: string[]): boolean {
  const { permissions: has } = useViewer();
  return permissions.every((permission) => has.includes(permission));
}

/** Shows its children once it is known who is signed in. */
export function SignedIn({ children }: { children: (viewer: Viewer | null) => ReactNode }) {
  const { data, problem, reload } = useAsk<{ viewer: Viewer }>(query);
  if (data) return <Context value={data.viewer}>{children(data.viewer)}</Context>;
  return (
    <>
      {children(null)}
      <main className="page">
        {problem ? <Failure problem={problem} retry={reload} more={<button type="button" onClick={() => signOut()}>Sign out</button>} /> : <Loading label="Reading your account" />}
      </main>
    </>
  );
}
