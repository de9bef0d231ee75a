"""Tables that models, markers, calls and schema files define."""

from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.db_tables import table_surface
from tests.drive import new_repo, user_env

_FRAMEWORKS = {
    "sqlalchemy": (
        {
            "db.py": """from sqlalchemy import Table, MetaData
from sqlalchemy.orm import DeclarativeBase, declarative_base
class Base(DeclarativeBase):
    pass
Old = declarative_base()
NAME = "t_" + "core"
T = Table(NAME, MetaData(), schema="x")
other.Table("no")
""",
            "models.py": """from db import Base, Old
class User(Base):
    __tablename__ = "users"
    __table_args__ = ({"schema": "auth"},)
class Admin(User):
    pass
class Item(Old):
    __tablename__ = "items"
class Mixin:
    __tablename__ = "no_table"
""",
            "migrations/one.py": 'from alembic import op\ndef upgrade():\n    op.create_table("logs")\n',
        },
        ["items models.Item", "logs", "x.t_core", "auth.users models.User"],
    ),
    "convention": (
        {
            "models.py": """from sqlalchemy.orm import DeclarativeBase, declared_attr
class Base(DeclarativeBase):
    __abstract__ = True
    @declared_attr.directive
    def __tablename__(cls):
        return cls.__name__.lower()
class FlowRun(Base):
    id = 1
"""
        },
        ["flowrun models.FlowRun"],
    ),
    "snake case": (
        {
            "models.py": """from sqlalchemy.orm import DeclarativeBase, declared_attr
class Base(DeclarativeBase):
    @declared_attr.directive
    def __tablename__(cls):
        return CAMEL_TO_SNAKE.sub("_", cls.__name__).lower()
class FlowRun(Base):
    id = 1
"""
        },
        ["flow_run models.FlowRun"],
    ),
    "flask": (
        {
            "models.py": """from flask_sqlalchemy import SQLAlchemy
db = SQLAlchemy()
class UserRole(db.Model):
    id = db.Column(db.Integer, primary_key=True)
link = db.Table("links", db.Column("a"))
"""
        },
        ["links", "user_role models.UserRole"],
    ),
    "sqlmodel": (
        {
            "models.py": """from sqlmodel import SQLModel
class HeroBase(SQLModel):
    name: str
class Hero(HeroBase, table=True):
    id: int
class Named(SQLModel, table=True):
    __tablename__ = "names"
"""
        },
        ["hero models.Hero", "names models.Named"],
    ),
    "django": (
        {
            "shop/__init__.py": "",
            "shop/apps.py": 'class ShopConfig(AppConfig):\n    name = "shop"\n    label = "store"\n',
            "shop/models.py": """from django.db import models
class Base(models.Model):
    class Meta:
        abstract = True
class Order(Base):
    tags = models.ManyToManyField("Tag")
    buyers = models.ManyToManyField("Buyer", through="Purchase")
class Tag(models.Model):
    class Meta:
        db_table = "labels"
class Proxy(Tag):
    class Meta:
        proxy = True
class Plain:
    pass
""",
        },
        ["labels shop.models.Tag", "store_order shop.models.Order", "store_order_tags shop.models.Order"],
    ),
    "peewee": (
        {
            "models.py": """import peewee
class Base(peewee.Model):
    class Meta:
        database = None
class Person(Base):
    name = peewee.CharField()
class Pet(Base):
    name = peewee.CharField()
    class Meta:
        table_name = "animals"
"""
        },
        ["animals models.Pet", "person models.Person"],
    ),
    "jpa": (
        {
            "A.java": """package a;
import jakarta.persistence.*;
@Entity @Table(name = "users", schema = "s") class User { }
@Entity class OrderLine { }
@Table(name = "no") class Other { }
"""
        },
        ["order_line a.OrderLine", "s.users a.User"],
    ),
    "ef": (
        {
            "a.cs": """using System.ComponentModel.DataAnnotations.Schema;
namespace N;
[Table("blogs", Schema = "dbo")] class Blog { }
"""
        },
        ["dbo.blogs N.Blog"],
    ),
    "typescript": (
        {
            "a.ts": """import { Entity } from "typeorm";
import { pgTable } from "drizzle-orm/pg-core";
@Entity("cats")
export class Cat {}
@Entity({ name: "dogs", schema: "s" })
class Dog {}
@Entity()
class BigBird {}
export const users = pgTable("users", {});
"""
        },
        ["big_bird a.BigBird", "cats a.Cat", "s.dogs a.Dog", "users"],
    ),
    "activerecord": (
        {
            "app/models/a.rb": """class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end
class User < ApplicationRecord
  self.table_name = "members"
end
class LineCategory < ApplicationRecord
end
class Plain
end
"""
        },
        ["line_categories app/models/a.LineCategory", "members app/models/a.User"],
    ),
    "eloquent": (
        {
            "a.php": """<?php
use Illuminate\\Database\\Eloquent\\Model;
class User extends Model { protected $table = "members"; }
class BlogPost extends Model { }
"""
        },
        ["blog_posts a.BlogPost", "members a.User"],
    ),
    "prisma": (
        {"schema.prisma": 'model User {\n  id Int @id\n  @@map("users")\n}\nmodel Post {\n  id Int @id\n}\n'},
        ["Post", "users"],
    ),
}


@pytest.mark.parametrize("framework", _FRAMEWORKS)
def test_tables_of_a_framework(tmp_path: Path, framework: str) -> None:
    files, tables = _FRAMEWORKS[framework]
    root = new_repo(tmp_path / "repo", files)
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            assert [
                (f"{table.schema}." if table.schema else "")
                + table.name
                + (f" {snapshot.qualified(table.entity)}" if table.entity else "")
                for table in table_surface(snapshot).tables
            ] == tables
    finally:
        session.close()
