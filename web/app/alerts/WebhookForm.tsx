import { type FormEvent, useState } from 'react';
import { graphql, type VariablesOf } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useDo } from '../graph/use';
import { EditFailure } from '../shell/EditFailure';
import { Sheet } from '../ui/Sheet';
import { AlertsAndGroups, All, scopeOf } from './Choices';
import type { Webhook } from './Webhooks';
import { events, formats } from './webhooks';

const create = graphql('mutation CreateWebhook($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { name } } }');
const edit = graphql('mutation EditWebhook($input: EditWebhookInput!) { editWebhook(input: $input) { webhook { webhookId } } }');
const now = graphql('query WebhookNow($webhookId: Int!) { webhook(by: {webhookId: $webhookId}) { version name url format eventTypes alertIds groupIds tagNames } }');

type Input = VariablesOf<typeof create>['input'];

interface Props {
  of?: Webhook;
  close: () => void;
  /** Takes the secret of a new webhook. */
  created: (name: string, secret: string) => void;
}

const isAll = ({ alertIds, groupIds, tagNames }: Pick<Webhook, 'alertIds' | 'groupIds' | 'tagNames'>) => alertIds.length + groupIds.length + tagNames.length === 0;

/** Adds a webhook, or changes one. */
export function WebhookForm({ of, close, created }: Props) {
  const [name, setName] = useState(of?.name ?? '');
  const [url, setUrl] = useState(of?.url ?? '');
  const [format, setFormat] = useState<NonNullable<Input['format']>>(of?.format ?? 'CLOUDEVENTS');
  const [types, setTypes] = useState<ReadonlySet<string>>(new Set(of?.eventTypes ?? ['ALERT_FIRED', 'ALERT_RESOLVED', 'SOURCE_SILENT']));
  const [alerts, setAlerts] = useState<ReadonlySet<string>>(new Set(of?.alertIds.map(String)));
  const [groups, setGroups] = useState<ReadonlySet<string>>(new Set(of?.groupIds.map(String)));
  const [all, setAll] = useState(of !== undefined && isAll(of));
  const [tags, setTags] = useState(of?.tagNames.join(', ') ?? '');
  const about = { alertIds: [...alerts].map(Number), groupIds: [...groups].map(Number), tagNames: tags.split(',').map((tag) => tag.trim()).filter(Boolean) };
  const unsaid = !all && Object.values(about).every((list) => list.length === 0);
  const missing = name.trim() === '' ? 'Write a name.' : url.trim() === '' ? 'Write where requests go.' : types.size === 0 ? 'Choose at least one event.' : null;
  const made = useMadeFrom(of, async () => (await readNow(now, { webhookId: of!.webhookId })).webhook, {
    name: setName, url: setUrl, format: setFormat, eventTypes: (theirs) => setTypes(new Set(theirs)),
    alertIds: (theirs, whole) => { setAlerts(new Set(theirs.map(String))); setAll(isAll(whole)); },
    groupIds: (theirs, whole) => { setGroups(new Set(theirs.map(String))); setAll(isAll(whole)); },
    tagNames: (theirs, whole) => { setTags(theirs.join(', ')); setAll(isAll(whole)); },
  });
  const save = useDo(async () => {
    const input = { name: name.trim(), url: url.trim(), format, eventTypes: [...types] as Input['eventTypes'], scope: scopeOf(all, about) };
    if (of) {
      await made.send((expectedVersion) => mutate(edit, { input: { webhookId: of.webhookId, expectedVersion, ...input } }));
    } else {
      const { createWebhook } = await mutate(create, { input });
      if (createWebhook) created(createWebhook.webhook.name, createWebhook.secret);
    }
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === null && !unsaid) void save.run();
  };
  return (
    <Sheet title={of ? 'Change the webhook' : 'New webhook'} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>Name<input value={name} autoFocus required maxLength={256} onChange={(event) => setName(event.target.value)} /></label>
        <label>Address<input type="url" value={url} required placeholder="https://hooks.example.com/simgraph" onChange={(event) => setUrl(event.target.value)} /></label>
        <label>Form of the messages
          <select aria-label="Form of the messages" value={format} onChange={(event) => setFormat(event.target.value as typeof format)}>
            {Object.entries(formats).map(([key, text]) => <option key={key} value={key}>{text}</option>)}
          </select>
        </label>
        <fieldset className="choices">
          <legend>When</legend>
          {Object.entries(events).map(([key, text]) => (
            <label key={key} className="inline"><input type="checkbox" checked={types.has(key)} onChange={(event) => setTypes(new Set(event.target.checked ? [...types, key] : [...types].filter((one) => one !== key)))} /> {text}</label>
          ))}
        </fieldset>
        <All name="Every such event" said={all} unsaid={unsaid} change={setAll}>An event must fit all that is chosen.</All>
        {!all && (
          <>
            <AlertsAndGroups alerts={alerts} setAlerts={setAlerts} groups={groups} setGroups={setGroups} />
            <label>Tags, with commas<input value={tags} onChange={(event) => setTags(event.target.value)} /></label>
          </>
        )}
        {missing && <p className="hint" role="status">{missing}</p>}
        <EditFailure save={save} of={made} subject={['Webhook', String(of?.webhookId)]} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || missing !== null || unsaid}>{of ? 'Save' : 'Add the webhook'}</button>
        </p>
      </form>
    </Sheet>
  );
}
