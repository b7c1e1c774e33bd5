-- +goose Up

-- Dashboards that people keep: questions about usage on a grid. One that is not shared is its
-- owner's alone.
CREATE TABLE dashboards (
  company_id       bigint NOT NULL,
  dashboard_id     uuid NOT NULL,
  name             text COLLATE "C" NOT NULL,
  description      text,
  folder           text COLLATE "C",
  -- The user, and the e-mail address at the time; 0 for a user that is not known here.
  owner_id         bigint NOT NULL,
  owner            text COLLATE "C" NOT NULL,
  is_shared        boolean NOT NULL,
  version          integer NOT NULL,
  -- What takes the place of the span and the subject of every tile; NULL does not.
  span             text COLLATE "C",
  first_day        text COLLATE "C",
  last_day         text COLLATE "C",
  group_id         bigint,
  tag_name         text COLLATE "C",
  physical_id      text COLLATE "C",
  refresh_minutes  integer NOT NULL,
  -- A list of what domain/dashboard has as Tile. They are read and written with the dashboard.
  tiles            json NOT NULL,
  created_at       timestamptz NOT NULL,
  changed_at       timestamptz NOT NULL,
  PRIMARY KEY (company_id, dashboard_id)
);
SELECT simgraph_distribute('dashboards');
CREATE INDEX dashboards_owner ON dashboards (company_id, owner_id);

-- +goose Down
DROP TABLE dashboards;
