-- What a superuser does once, when the volume of compose.yaml is made: Latitude owns its database and
-- is no superuser. The container runs this file with psql, as POSTGRES_USER in POSTGRES_DB.
\set ON_ERROR_STOP on
\getenv password POSTGRES_PASSWORD

create role latitude login password :'password';
-- The role that statements of an organization run under.
create role latitude_app nologin;
grant latitude_app to latitude;
alter database :"DBNAME" owner to latitude;

-- Lets searches use their index under row-level security (docs/adr/0003).
alter function pg_catalog.textlike(text, text) leakproof;

-- From now on the superuser logs in only inside the container, over the socket.
alter role :"USER" password null;
