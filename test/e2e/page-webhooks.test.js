// The webhooks of the page, with a receiver of their own.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before } from 'node:test';
import { enter, graph } from './browser.js';
import { accessible, eventually, pageTests } from './tab.js';

const inTab = pageTests();
const received = [];
let server, url;

before(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received.push({ id: request.headers['webhook-id'], body });
    response.end('thanks');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());

inTab('a webhook is added, tested, disabled, gets a new secret, and its messages are read and sent again', async (tab) => {
  await enter(tab, '#/alerts/webhooks');
  await tab.getByRole('button', { name: 'New webhook' }).click();
  const dialog = tab.getByRole('dialog', { name: 'New webhook' });
  await dialog.getByText('Write a name.').waitFor();
  await dialog.getByLabel('Name').fill('Page receiver');
  await dialog.getByText('Write where requests go.').waitFor();
  await dialog.getByLabel('Address').fill(url);
  await dialog.getByLabel('An operation finished').check();
  await dialog.getByText('Choose every such event, or something below.').waitFor();
  await dialog.getByLabel('Every such event').check();
  await accessible(tab, 'a new webhook');
  await dialog.getByRole('button', { name: 'Add the webhook' }).click();
  const secretOf = async () => {
    const panel = tab.locator('section').filter({ has: tab.getByRole('heading', { name: 'The secret of Page receiver' }) });
    const secret = await panel.locator('dd').textContent();
    await panel.getByRole('button', { name: 'Done' }).click();
    return secret;
  };
  const first = await secretOf();
  assert.match(first, /^whsec_/);
  const card = tab.getByRole('list', { name: 'Webhooks' }).getByRole('listitem').filter({ hasText: 'Page receiver' });
  await card.getByText('active').waitFor();
  await card.getByText('An alert fired, What a condition noticed is over, A source of usage is silent, An operation finished.').waitFor();

  await card.getByRole('button', { name: 'Test Page receiver' }).click();
  await card.getByText('A test event is on the way.').waitFor();
  await card.getByRole('link', { name: 'Its messages are below.' }).click();
  await tab.getByRole('heading', { name: '1 message', exact: true }).waitFor();
  const { webhooks } = await graph('{ webhooks(first: 100) { nodes { webhookId name } } }');
  const { webhookId } = webhooks.nodes.find(({ name }) => name === 'Page receiver');
  const delivered = async () => (await graph('query($webhookId: BigInt) { webhookDeliveries(filter: { webhookId: { eq: $webhookId }, state: { eq: DELIVERED } }) { totalCount } }', { webhookId })).webhookDeliveries.totalCount === 1;
  await eventually(delivered, true, 'nothing was delivered', 60_000);
  await tab.getByRole('button', { name: 'Look again' }).click();
  const table = tab.getByRole('region', { name: 'Table of messages to webhooks' });
  await table.getByText('delivered').waitFor();
  await accessible(tab, 'webhooks');
  await table.getByRole('button', { name: /^Show message / }).click();
  const message = tab.getByRole('dialog', { name: 'webhook.test' });
  await message.getByText('"type": "webhook.test"').waitFor();
  await message.getByText('thanks').waitFor();
  await accessible(tab, 'a message');
  await message.getByRole('button', { name: 'Send it again' }).click();
  await message.waitFor({ state: 'hidden' });
  await eventually(() => received.length, 2, 'it was not sent again', 60_000);
  assert.equal(received[0].id, received[1].id);
  await eventually(delivered, true, 'the replay was not delivered', 60_000);

  await card.getByRole('button', { name: 'Send again to Page receiver' }).click();
  const again = tab.getByRole('dialog', { name: 'Send messages to Page receiver again' });
  await again.getByRole('button', { name: 'Send again' }).click();
  await card.getByText('1 message is sent again.').waitFor();
  await eventually(() => received.length, 3, 'it was not sent a third time', 60_000);
  await eventually(delivered, true, 'the second replay was not delivered', 60_000);
  await tab.getByRole('link', { name: 'given up' }).click();
  await tab.getByText('No message fits.').waitFor();

  await card.getByRole('button', { name: 'Disable Page receiver' }).click();
  await card.getByText('disabled', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Enable Page receiver' }).click();
  await card.getByText('active').waitFor();
  await card.getByRole('button', { name: 'New secret of Page receiver' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Make a new secret' }).click();
  const second = await secretOf();
  assert.match(second, /^whsec_/);
  assert.notEqual(second, first);
  await card.getByText('Messages are signed with the secret before, too').waitFor();
  await card.getByRole('button', { name: 'Change Page receiver' }).click();
  const change = tab.getByRole('dialog', { name: 'Change the webhook' });
  await change.getByLabel('Form of the messages').selectOption({ label: 'Slack' });
  await change.getByRole('button', { name: 'Save' }).click();
  await card.getByText('Slack').waitFor();
  await card.getByRole('button', { name: 'Delete Page receiver' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Delete the webhook' }).click();
  await card.waitFor({ state: 'hidden' });
  await tab.getByRole('button', { name: 'Undo' }).click();
  await card.waitFor();
  await graph('mutation($webhookId: Int!) { deleteWebhook(input: { webhookId: $webhookId }) { webhook { webhookId } } }', { webhookId });
});
