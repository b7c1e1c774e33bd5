import { graphql } from '../graph/graphql';
import { mutate } from '../graph/use';
import { Copy } from '../ui/Copy';

const mutation = graphql('mutation InviteUser($input: InviteUserInput!) { inviteUser(input: $input) { isMailed linkCode } }');

export interface Invitation {
  /** The address that signs in; null where it is mailed. */
  link: string | null;
}

/** Invites a user. A link of before ends. */
export async function invite(email: string): Promise<Invitation> {
  const { inviteUser } = await mutate(mutation, { input: { userEmail: email } });
  const code = inviteUser?.linkCode ?? null;
  return { link: code === null ? null : `${location.origin}/#link=${code}` };
}

/** What became of an invitation: it is mailed, or here is the link to pass on. */
export function Invited({ email, of: { link } }: { email: string; of: Invitation }) {
  return (
    <div className="stacked" role="status">
      {link === null ? <p className="notice">An invitation is on its way to {email}. Its link signs in once, within 7 days.</p> : (
        <>
          <p className="notice">This server sends no mail. Give {email} this link: it signs in once, within 7 days, and cannot be shown again.</p>
          <Copy label={`Link for ${email}`} text={link} />
        </>
      )}
    </div>
  );
}
