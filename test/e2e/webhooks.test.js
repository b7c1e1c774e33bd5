// Receivers verify messages of webhooks by the libraries that docs/webhooks.md names, which
// refuse what was changed or signed by another secret.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { HTTP } from 'cloudevents';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { graph } from './browser.js';

const received = [];
let server, url;

before(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received.push({ path: request.url, headers: request.headers, body });
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());

/** The messages to a path, once there are so many that fit. */
async function messages(path, many, fits = () => true) {
  for (let tries = 0; tries < 600; tries++) {
    const all = received.filter((message) => message.path === path && fits(message));
    if (all.length >= many) return all;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${path} got ${JSON.stringify(received.filter((message) => message.path === path))}`);
}

const headersOf = ({ headers }) => Object.fromEntries(['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headers[name]]));

/** Verifies by each library. Svix knows the headers by its own name, too. */
const libraries = {
  standardwebhooks: (secret, body, headers) => new StandardWebhook(secret).verify(body, headers),
  svix: (secret, body, headers) => new SvixWebhook(secret).verify(body, headers),
};

async function hook(name, format, eventTypes = ['ALERT_FIRED']) {
  const { createWebhook } = await graph('mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { webhookId } } }', {
    input: { name, url: `${url}/${format.toLowerCase()}`, format, eventTypes, scope: { all: true } },
  });
  return { secret: createWebhook.secret, webhookId: createWebhook.webhook.webhookId, path: `/${format.toLowerCase()}` };
}

const send = (webhookId) => graph('mutation ($input: TestWebhookInput!) { testWebhook(input: $input) { delivery { deliveryId } } }', { input: { webhookId } });
const remove = (webhookId) => graph('mutation ($input: DeleteWebhookInput!) { deleteWebhook(input: $input) { webhook { webhookId } } }', { input: { webhookId } });

describe('a webhook', () => {
  test('is verified by standardwebhooks and svix, and read by cloudevents', async (t) => {
    const { secret, webhookId, path } = await hook('Receiver', 'CLOUDEVENTS');
    t.after(() => remove(webhookId));
    const { subscribers } = await graph('{ subscribers(first: 1, filter: { dataUsage: { gt: 1000 } }) { nodes { subscriberId physicalId } } }');
    const [{ subscriberId, physicalId }] = subscribers.nodes;
    const { createAlert } = await graph('mutation ($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', {
      input: { ruleType: 'SIM', target: subscriberId, lowerThreshold: '1', upperThreshold: '9000000000000000000' },
    });
    t.after(() => graph('mutation ($input: DeleteAlertInput!) { deleteAlert(input: $input) { alert { id } } }', { input: { alertId: createAlert.alert.alertId } }));
    const [fired] = await messages(path, 1, ({ body }) => body.includes(`"alertId":${createAlert.alert.alertId},`));
    await send(webhookId);
    const [trial] = await messages(path, 1, ({ body }) => body.includes('webhook.test'));
    for (const message of [fired, trial]) {
      const headers = headersOf(message);
      const wrong = `whsec_${Buffer.alloc(32).toString('base64')}`;
      const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 3600) };
      for (const [name, verify] of Object.entries(libraries)) {
        assert.deepEqual(verify(secret, message.body, headers), JSON.parse(message.body), name);
        assert.throws(() => verify(secret, message.body.replace('"time":"2', '"time":"3'), headers), name);
        assert.throws(() => verify(secret, message.body, { ...headers, 'webhook-id': 'another' }), name);
        assert.throws(() => verify(secret, message.body, old), name);
        assert.throws(() => verify(wrong, message.body, headers), name);
      }
    }
    const event = HTTP.toEvent({ headers: fired.headers, body: fired.body });
    assert.equal(event.validate(), true);
    assert.deepEqual([event.type, event.subject, event.data.kind, event.data.physicalId], ['alert.fired', `subscribers/${physicalId}`, 'volume', physicalId]);
    // Replayed under the same id, and signed by both secrets while one is rotated.
    const rotated = await graph('mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { secret } }', { input: { webhookId } });
    const deliveryId = fired.headers['webhook-id'];
    await graph('mutation ($input: ReplayWebhookDeliveryInput!) { replayWebhookDelivery(input: $input) { delivery { state } } }', { input: { deliveryId } });
    const [, again] = await messages(path, 2, ({ headers }) => headers['webhook-id'] === deliveryId);
    assert.equal(again.body, fired.body);
    for (const [name, verify] of Object.entries(libraries))
      for (const each of [secret, rotated.rotateWebhookSecret.secret]) assert.deepEqual(verify(each, again.body, headersOf(again)), JSON.parse(fired.body), name);
  });

  for (const format of ['SLACK', 'TEAMS']) {
    test(`in the form of ${format} shows names as they are`, async (t) => {
      const hostile = `<!channel> @here <b>x</b> [a](https://evil.example) \${now()} {{x}}`;
      const { secret, webhookId, path } = await hook(hostile, format);
      t.after(() => remove(webhookId));
      await send(webhookId);
      const [message] = await messages(path, 1);
      for (const [name, verify] of Object.entries(libraries)) verify(secret, message.body, headersOf(message), name);
      const content = JSON.parse(message.body);
      assert.match(message.headers['content-type'], /^application\/json/);
      if (format === 'SLACK') {
        assert.ok(!/<[!@#]/.test(content.text), content.text);
        assert.ok(content.blocks.every((block) => block.text.type === 'plain_text'));
      } else {
        const [{ contentType, content: card }] = content.attachments;
        assert.equal(contentType, 'application/vnd.microsoft.card.adaptive');
        const texts = card.body.flatMap((block) => block.inlines.map(({ text }) => text));
        assert.ok(card.body.every(({ type }) => type === 'RichTextBlock') && texts.every((text) => !/<|\$\{|\{\{/.test(text)), texts.join());
      }
    });
  }
});
