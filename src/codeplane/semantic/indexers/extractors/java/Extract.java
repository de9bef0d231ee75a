// Writes what the names in Java sources mean as a SCIP index. It needs a JDK alone, from 11 on, and fetches nothing.
//
//   java --add-exports jdk.compiler/com.sun.tools.javac.code=ALL-UNNAMED
//        --add-exports jdk.compiler/com.sun.tools.javac.tree=ALL-UNNAMED
//        Extract.java ROOT OUTPUT FILES OTHERS CLASSPATH
//
// FILES is a file with paths relative to ROOT, one a line. OTHERS is one with the other sources of the repository,
// also of other languages: of Java sources that are used, the definitions are written. What does not compile is
// counted, and the rest is written all the same.

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.PackageTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeParameterTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import com.sun.tools.javac.tree.JCTree;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.ModuleElement;
import javax.lang.model.element.NestingKind;
import javax.lang.model.element.PackageElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.type.TypeVariable;
import javax.lang.model.util.ElementFilter;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;
import javax.tools.Diagnostic;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

public final class Extract {
    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)");
    private static final Pattern MISSING = Pattern.compile("package ([\\w.]+) does not exist");
    private static final Pattern SOURCE_SET = Pattern.compile("^(?:.*?/)?src/[^/]+/");
    private static final Pattern TESTS = Pattern.compile("(?:^|/)src/[^/]*[tT]est[^/]*/");
    private static final int MOST_ROUNDS = 8;
    private static final long STACK = 256L << 20;

    private final Path root;
    private final OutputStream out;
    private final String classpath;
    private final Set<String> ownPackages = new HashSet<>();
    private final Set<String> sourcePath = new LinkedHashSet<>();
    private final Set<String> given = new HashSet<>();
    private final Set<String> written = new HashSet<>();
    private final Set<String> missing = new TreeSet<>();
    private final List<String> first = new ArrayList<>();
    private int documents;
    private int errors;

    private Extract(Path root, OutputStream out, String classpath) {
        this.root = root;
        this.out = out;
        String users = System.getenv("CLASSPATH");
        this.classpath = users == null ? classpath : classpath + File.pathSeparator + users;
    }

    public static void main(String[] arguments) throws Exception {
        Throwable[] failure = new Throwable[1];
        // Long chains of calls are deep trees.
        Thread thread = new Thread(null, () -> {
            try {
                run(arguments);
            } catch (Throwable error) {
                failure[0] = error;
            }
        }, "extract", STACK);
        thread.start();
        thread.join();
        if (failure[0] != null) {
            System.err.println(failure[0]);
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws IOException {
        Path root = Paths.get(arguments[0]).toRealPath();
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Paths.get(arguments[1])))) {
            Extract extract = new Extract(root, out, arguments[4]);
            Message tool = new Message().text(1, "codeplane-java").text(2, System.getProperty("java.version"));
            Message metadata = new Message().message(2, tool).text(3, root.toUri().toString()).number(4, 1);
            new Message().message(1, metadata).writeTo(out);
            extract.readOthers(lines(arguments[3]));
            extract.rounds(lines(arguments[2]));
            System.err.println(extract.summary());
        }
    }

    private static List<String> lines(String path) throws IOException {
        List<String> names = new ArrayList<>();
        for (String name : new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8).split("\n")) {
            if (!name.isEmpty() && !name.endsWith("module-info.java")) {
                names.add(name);
            }
        }
        return names;
    }

    private void readOthers(List<String> names) throws IOException {
        for (String name : names) {
            String key = key(name);
            int length = name.length() - key.length();
            String home = key.substring(0, key.lastIndexOf('/')).replace('.', '/') + key.substring(key.lastIndexOf('/'));
            if (name.endsWith(".java") && name.endsWith("/" + home) && !TESTS.matcher(name).find()) {
                sourcePath.add(root.resolve(name.substring(0, length)).toString());
            }
        }
    }

    // Two files for one class, of two modules or source sets, cannot be compiled together: each module that has
    // such a file is compiled with its own, and with everything else besides.
    private void rounds(List<String> names) throws IOException {
        Map<String, String> all = new LinkedHashMap<>();
        Map<String, String> keys = new HashMap<>();
        Map<String, Set<String>> modules = new LinkedHashMap<>(Map.of("", new LinkedHashSet<>()));
        Set<String> rivals = new LinkedHashSet<>();
        for (String name : names) {
            keys.put(name, key(name));
            String other = all.putIfAbsent(keys.get(name), name);
            if (other != null) {
                rivals.add(module(other));
                rivals.add(module(name));
            }
        }
        for (String name : names) {
            String home = rivals.contains(module(name)) && rivals.size() <= MOST_ROUNDS ? module(name) : "";
            modules.computeIfAbsent(home, one -> new LinkedHashSet<>()).add(name);
        }
        given.addAll(names);
        for (Set<String> asked : modules.values()) {
            Map<String, String> files = new LinkedHashMap<>(all);
            for (String name : asked) {
                files.put(keys.get(name), name);
            }
            if (!asked.isEmpty()) {
                compile(files.values(), asked);
            }
        }
    }

    // The directory that a source set is in, with its name: `core/src/main`.
    private static String module(String name) {
        Matcher match = SOURCE_SET.matcher(name);
        return match.find() ? match.group() : "/" + name.substring(0, name.lastIndexOf('/') + 1);
    }

    private String key(String name) throws IOException {
        Path file = root.resolve(name);
        String text = Files.isReadable(file) ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8) : "";
        Matcher match = PACKAGE.matcher(text);
        String home = match.find() ? match.group(1) : "";
        ownPackages.add(home);
        return home + "/" + root.resolve(name).getFileName();
    }

    private void compile(Iterable<String> names, Set<String> asked) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        List<File> files = new ArrayList<>();
        for (String name : names) {
            files.add(root.resolve(name).toFile());
        }
        List<String> options = new ArrayList<>(Arrays.asList(
                "-proc:none", "-nowarn", "-Xlint:none", "-Xmaxerrs", "1000000", "-implicit:none",
                "-XDshould-stop.ifError=ATTR", "-XDshould-stop.ifNoError=ATTR", "-classpath", classpath));
        if (!sourcePath.isEmpty()) {
            options.addAll(Arrays.asList("-sourcepath", String.join(File.pathSeparator, sourcePath)));
        }
        JavacTask task = (JavacTask) compiler.getTask(
                new StringWriter(), manager, this::report, options, null, manager.getJavaFileObjectsFromFiles(files));
        Set<CompilationUnitTree> units = new LinkedHashSet<>();
        task.addTaskListener(new TaskListener() {
            @Override
            public void finished(TaskEvent event) {
                if (event.getKind() == TaskEvent.Kind.PARSE) {
                    units.add(event.getCompilationUnit());
                }
            }
        });
        task.parse();
        try {
            task.analyze();
        } catch (RuntimeException | AssertionError error) {
            problem("javac: " + error); // what was attributed before is there
        }
        Names symbols = new Names(task, ownPackages);
        for (CompilationUnitTree unit : units) {
            String path = root.relativize(Paths.get(unit.getSourceFile().toUri())).toString().replace('\\', '/');
            boolean isAsked = asked.contains(path);
            if ((isAsked || !given.contains(path)) && written.add(path)) {
                new Document(path, unit, symbols, isAsked).writeTo(out);
                documents += isAsked ? 1 : 0;
            }
        }
    }

    private void report(Diagnostic<? extends JavaFileObject> diagnostic) {
        if (diagnostic.getKind() == Diagnostic.Kind.ERROR) {
            String message = diagnostic.getMessage(java.util.Locale.ENGLISH).replaceAll("\\s+", " ");
            Matcher match = MISSING.matcher(message);
            if (match.find() && !ownPackages.contains(match.group(1))) {
                missing.add(match.group(1));
            }
            JavaFileObject source = diagnostic.getSource();
            String at = source == null ? "" : Paths.get(source.toUri()).getFileName() + ":" + diagnostic.getLineNumber() + ": ";
            problem(at + message);
        }
    }

    private void problem(String message) {
        errors++;
        if (first.size() < 5) {
            first.add(message);
        }
    }

    private String summary() {
        return "{\"documents\": " + documents + ", \"errors\": " + errors + ", \"first\": " + json(first)
                + ", \"missing\": " + json(missing) + "}";
    }

    private static String json(Iterable<String> texts) {
        StringBuilder result = new StringBuilder("[");
        for (String text : texts) {
            result.append(result.length() > 1 ? ", \"" : "\"");
            for (char letter : text.toCharArray()) {
                if (letter == '"' || letter == '\\') {
                    result.append('\\').append(letter);
                } else if (letter < ' ' || letter > '~') {
                    result.append(String.format("\\u%04x", (int) letter));
                } else {
                    result.append(letter);
                }
            }
            result.append('"');
        }
        return result.append("]").toString();
    }

    /** The symbols of elements; null for what only its own file can name. */
    private static final class Names {
        final Elements elements;
        final Types types;
        final Trees trees;
        final SourcePositions positions;
        private final Set<String> ownPackages;
        private final Map<Element, String> symbols = new IdentityHashMap<>();
        private final Map<TypeElement, Map<Element, Boolean>> rivals = new IdentityHashMap<>();

        Names(JavacTask task, Set<String> ownPackages) {
            this.elements = task.getElements();
            this.types = task.getTypes();
            this.trees = Trees.instance(task);
            this.positions = trees.getSourcePositions();
            this.ownPackages = ownPackages;
        }

        String of(Element element) {
            if (!symbols.containsKey(element)) {
                symbols.put(element, make(element));
            }
            return symbols.get(element);
        }

        private String make(Element element) {
            switch (element.getKind().name()) {
                case "CLASS":
                case "ENUM":
                case "INTERFACE":
                case "ANNOTATION_TYPE":
                case "RECORD":
                    return type((TypeElement) element);
                case "METHOD":
                case "CONSTRUCTOR":
                    String overload = overload((ExecutableElement) element);
                    return member(element, escaped(element.getSimpleName().toString()) + "(" + overload + ").");
                case "FIELD":
                case "ENUM_CONSTANT":
                case "RECORD_COMPONENT":
                    return member(element, escaped(element.getSimpleName().toString()) + ".");
                case "TYPE_PARAMETER":
                    return member(element, "[" + escaped(element.getSimpleName().toString()) + "]");
                default:
                    return null;
            }
        }

        private String member(Element element, String descriptor) {
            Element owner = element.getEnclosingElement();
            if (owner == null || owner.asType().getKind() == TypeKind.ERROR) {
                return null;
            }
            if (owner instanceof TypeElement && ((TypeElement) owner).getQualifiedName().contentEquals("Array")
                    && !(owner.getEnclosingElement() instanceof PackageElement)) {
                return "codeplane-java jvm java.base . java/lang/Array#" + descriptor; // length and clone of arrays
            }
            String home = of(owner);
            return home == null ? null : home + descriptor;
        }

        private String type(TypeElement element) {
            String descriptor = escaped(element.getSimpleName().toString()) + "#";
            if (element.getNestingKind() == NestingKind.MEMBER) {
                return element.asType().getKind() == TypeKind.ERROR ? null : member(element, descriptor);
            }
            Element owner = element.getEnclosingElement();
            if (element.getNestingKind() != NestingKind.TOP_LEVEL || !(owner instanceof PackageElement)) {
                return null;
            }
            String home = ((PackageElement) owner).getQualifiedName().toString();
            boolean isSource = trees.getTree(element) != null;
            // A class that is not there, or an older build: of a dependency only where its package is not ours.
            boolean isNamed = !home.isEmpty() && !ownPackages.contains(home);
            if (!isSource && !isNamed) {
                return null;
            }
            ModuleElement module = elements.getModuleOf(element);
            boolean isModule = module != null && !module.isUnnamed();
            String unit = isSource ? "." : isModule ? module.getQualifiedName().toString() : "classpath";
            StringBuilder result = new StringBuilder("codeplane-java jvm " + unit + " . ");
            for (String part : home.split("\\.")) {
                result.append(part.isEmpty() ? "" : escaped(part) + "/");
            }
            return result.append(descriptor).toString();
        }

        private static String overload(ExecutableElement element) {
            int number = 0;
            for (Element other : element.getEnclosingElement().getEnclosedElements()) {
                if (other == element) {
                    break;
                }
                if (other.getKind() == element.getKind() && other.getSimpleName().equals(element.getSimpleName())) {
                    number++;
                }
            }
            return number == 0 ? "" : "+" + number;
        }

        private static String escaped(String name) {
            boolean isPlain = name.chars().allMatch(letter -> letter < 128 && (Character.isLetterOrDigit(letter) || "_+-$".indexOf(letter) >= 0));
            return isPlain ? name : "`" + name.replace("`", "``") + "`";
        }

        /** A component of a record is its field, its accessor and the parameter of its constructor in one. */
        Element component(Element element, BiPredicate<Integer, String> isWord) {
            boolean isParameter = element.getKind() == ElementKind.PARAMETER;
            Element owner = element.getEnclosingElement();
            Element record = isParameter && owner != null && owner.getKind() == ElementKind.CONSTRUCTOR ? owner.getEnclosingElement() : owner;
            boolean isOther = element.getKind().name().equals("RECORD_COMPONENT") || isParameter
                    || element.getKind() == ElementKind.METHOD && ((ExecutableElement) element).getParameters().isEmpty();
            if (record == null || !isOther || !record.getKind().name().equals("RECORD")) {
                return element;
            }
            for (Element field : ElementFilter.fieldsIn(record.getEnclosedElements())) {
                if (field.getSimpleName().equals(element.getSimpleName()) && !field.getModifiers().contains(Modifier.STATIC)) {
                    Tree tree = trees.getTree(element);
                    // A constructor without parameters of its own has them where it is, not where they are.
                    boolean isWritten = tree != null && (!isParameter || isWord.test(((JCTree) tree).pos, element.getSimpleName().toString()));
                    return isWritten ? element : field;
                }
            }
            return element;
        }

        /** What a method of a class overrides or implements, also by being inherited. */
        Set<String> overridden(ExecutableElement method, TypeElement type) {
            Set<String> result = new LinkedHashSet<>();
            for (TypeElement above : supertypes(type)) {
                for (ExecutableElement other : ElementFilter.methodsIn(above.getEnclosedElements())) {
                    if (other != method && other.getSimpleName().equals(method.getSimpleName()) && elements.overrides(method, other, type)) {
                        String symbol = of(other);
                        if (symbol != null) {
                            result.add(symbol);
                        }
                    }
                }
            }
            return result;
        }

        /**
         * Whether a type inherits another abstract method of the same signature, and none overrides the other:
         * a call means both, and compilers name the one or the other.
         */
        boolean hasRival(Element element, TypeMirror receiver) {
            TypeMirror type = receiver != null && receiver.getKind() == TypeKind.TYPEVAR ? ((TypeVariable) receiver).getUpperBound() : receiver;
            boolean isInherited = element instanceof ExecutableElement && element.getModifiers().contains(Modifier.ABSTRACT)
                    && type != null && type.getKind() == TypeKind.DECLARED && ((DeclaredType) type).asElement() != element.getEnclosingElement();
            if (!isInherited) {
                return false;
            }
            TypeElement home = (TypeElement) ((DeclaredType) type).asElement();
            return rivals.computeIfAbsent(home, one -> new IdentityHashMap<>())
                    .computeIfAbsent(element, one -> findRival((ExecutableElement) element, home));
        }

        private boolean findRival(ExecutableElement method, TypeElement type) {
            for (TypeElement above : supertypes(type)) {
                for (ExecutableElement other : ElementFilter.methodsIn(above.getEnclosedElements())) {
                    boolean isAlike = other != method && other.getSimpleName().equals(method.getSimpleName())
                            && other.getModifiers().contains(Modifier.ABSTRACT)
                            && other.getParameters().size() == method.getParameters().size();
                    if (isAlike && !elements.overrides(method, other, type) && !elements.overrides(other, method, type)
                            && isSame(method, other, (DeclaredType) type.asType())) {
                        return true;
                    }
                }
            }
            return false;
        }

        private boolean isSame(ExecutableElement method, ExecutableElement other, DeclaredType type) {
            ExecutableType one = (ExecutableType) types.asMemberOf(type, method);
            ExecutableType two = (ExecutableType) types.asMemberOf(type, other);
            return types.isSubsignature(one, two) || types.isSubsignature(two, one);
        }

        Set<TypeElement> supertypes(TypeElement type) {
            Set<TypeElement> result = new LinkedHashSet<>();
            Deque<TypeMirror> pending = new ArrayDeque<>();
            pending.add(type.asType());
            while (!pending.isEmpty()) {
                for (TypeMirror above : types.directSupertypes(pending.remove())) {
                    if (above.getKind() == TypeKind.DECLARED && result.add((TypeElement) ((DeclaredType) above).asElement())) {
                        pending.add(above);
                    }
                }
            }
            return result;
        }
    }

    /** The occurrences of one file. */
    private static final class Document extends TreeScanner<Void, Void> {
        private final String path;
        private final boolean isWhole; // else the definitions that other files can name
        private final CompilationUnitTree unit;
        private final Names names;
        private final String text;
        private final int[] lines;
        // Imported classes that are not there, by their names.
        private final Map<String, Element> absent = new HashMap<>();
        private final Map<Element, String> locals = new IdentityHashMap<>();
        private final Map<Integer, Map<String, Integer>> occurrences = new TreeMap<>();
        private final Map<Integer, Integer> lengths = new HashMap<>();
        private final Map<String, Set<String>> relations = new LinkedHashMap<>();

        Document(String path, CompilationUnitTree unit, Names names, boolean isWhole) throws IOException {
            this.path = path;
            this.isWhole = isWhole;
            this.unit = unit;
            this.names = names;
            this.text = unit.getSourceFile().getCharContent(true).toString();
            this.lines = java.util.stream.IntStream.concat(java.util.stream.IntStream.of(0),
                    java.util.stream.IntStream.range(0, text.length()).filter(at -> text.charAt(at) == '\n').map(at -> at + 1)).toArray();
            scan(unit, null);
        }

        @Override
        public Void visitPackage(PackageTree tree, Void nothing) {
            return scan(tree.getAnnotations(), null);
        }

        @Override
        public Void visitImport(ImportTree tree, Void nothing) {
            MemberSelectTree name = (MemberSelectTree) tree.getQualifiedIdentifier();
            if (!tree.isStatic()) {
                Element imported = ((JCTree.JCFieldAccess) name).sym;
                if (imported instanceof TypeElement && imported.asType().getKind() == TypeKind.ERROR) {
                    absent.put(name.getIdentifier().toString(), imported);
                }
                return scan(name, null);
            }
            Element type = ((JCTree.JCFieldAccess) name).selected instanceof JCTree.JCFieldAccess
                    ? ((JCTree.JCFieldAccess) ((JCTree.JCFieldAccess) name).selected).sym : null;
            Set<Element> matches = new HashSet<>();
            if (type instanceof TypeElement && type.asType().getKind() != TypeKind.ERROR) {
                for (Element member : names.elements.getAllMembers((TypeElement) type)) {
                    if (member.getSimpleName().equals(name.getIdentifier()) && member.getModifiers().contains(Modifier.STATIC)) {
                        matches.add(member);
                    }
                }
            }
            // Of several overloads an import means all.
            if (matches.size() == 1) {
                add(end(name) - name.getIdentifier().length(), name.getIdentifier().toString(), matches.iterator().next(), false);
            }
            return scan(name.getExpression(), null);
        }

        @Override
        public Void visitIdentifier(IdentifierTree tree, Void nothing) {
            Element element = ((JCTree.JCIdent) tree).sym;
            String name = tree.getName().toString();
            boolean isAbsent = element instanceof TypeElement && element.asType().getKind() == TypeKind.ERROR;
            add(((JCTree) tree).pos, name, isAbsent ? absent.getOrDefault(name, element) : element, false);
            return null;
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
            int length = tree.getIdentifier().length();
            JCTree.JCFieldAccess access = (JCTree.JCFieldAccess) tree;
            if (!names.hasRival(access.sym, access.selected.type)) {
                add(end(tree) - length, tree.getIdentifier().toString(), access.sym, false);
            }
            return super.visitMemberSelect(tree, null);
        }

        @Override
        public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
            int length = tree.getName().length();
            JCTree.JCMemberReference reference = (JCTree.JCMemberReference) tree;
            if (!names.hasRival(reference.sym, reference.expr.type)) {
                add(end(tree) - length, tree.getName().toString(), reference.sym, false);
            }
            return super.visitMemberReference(tree, null);
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree tree, Void nothing) {
            Tree select = tree.getMethodSelect();
            boolean isSelect = select instanceof JCTree.JCFieldAccess;
            Element method = isSelect ? ((JCTree.JCFieldAccess) select).sym
                    : select instanceof JCTree.JCIdent ? ((JCTree.JCIdent) select).sym : null;
            if (method == null || !isGuess(method, tree.getArguments())) {
                return super.visitMethodInvocation(tree, null);
            }
            scan(isSelect ? ((MemberSelectTree) select).getExpression() : null, null);
            scan(tree.getTypeArguments(), null);
            return scan(tree.getArguments(), null);
        }

        /** An argument of a type that is not there fits every overload: the compiler takes one of them. */
        private boolean isGuess(Element method, List<? extends ExpressionTree> arguments) {
            boolean isBroken = false;
            for (ExpressionTree one : arguments) {
                JCTree.JCExpression argument = (JCTree.JCExpression) one;
                isBroken = isBroken || argument.type == null || argument.type.isErroneous();
            }
            int overloads = 0;
            if (isBroken && method.getEnclosingElement() instanceof TypeElement) {
                for (Element other : names.elements.getAllMembers((TypeElement) method.getEnclosingElement())) {
                    overloads += other.getKind() == ElementKind.METHOD && other.getSimpleName().equals(method.getSimpleName()) ? 1 : 0;
                }
            }
            return overloads > 1;
        }

        @Override
        public Void visitClass(ClassTree tree, Void nothing) {
            TypeElement element = ((JCTree.JCClassDecl) tree).sym;
            if (element != null) {
                String name = tree.getSimpleName().toString();
                add(nameBehind(tree, tree.getModifiers(), name), name, element, true);
                relate(element);
            }
            return super.visitClass(tree, null);
        }

        @Override
        public Void visitMethod(MethodTree tree, Void nothing) {
            JCTree.JCMethodDecl declaration = (JCTree.JCMethodDecl) tree;
            if (declaration.sym != null) {
                boolean isConstructor = declaration.sym.getKind() == ElementKind.CONSTRUCTOR;
                Element named = isConstructor ? declaration.sym.getEnclosingElement() : declaration.sym;
                add(declaration.pos, named.getSimpleName().toString(), declaration.sym, true);
            }
            return super.visitMethod(tree, null);
        }

        @Override
        public Void visitVariable(VariableTree tree, Void nothing) {
            JCTree.JCVariableDecl declaration = (JCTree.JCVariableDecl) tree;
            String name = tree.getName().toString();
            // javac says that a constant of an enum stands where its annotations begin.
            boolean isAnnotated = declaration.sym != null && declaration.sym.getKind() == ElementKind.ENUM_CONSTANT
                    && !tree.getModifiers().getAnnotations().isEmpty();
            add(isAnnotated ? nameBehind(tree, tree.getModifiers(), name) : declaration.pos, name, declaration.sym, true);
            return super.visitVariable(tree, null);
        }

        @Override
        public Void visitTypeParameter(TypeParameterTree tree, Void nothing) {
            Element element = ((JCTree.JCTypeParameter) tree).type == null ? null : ((JCTree.JCTypeParameter) tree).type.tsym;
            add(((JCTree) tree).pos, tree.getName().toString(), element, true);
            return super.visitTypeParameter(tree, null);
        }

        private int end(Tree tree) {
            return (int) names.positions.getEndPosition(unit, tree);
        }

        /** The name of a class or a constant is the first word of that name behind its modifiers. */
        private int nameBehind(Tree tree, ModifiersTree modifiers, String name) {
            int at = (int) Math.max(names.positions.getStartPosition(unit, tree), end(modifiers));
            while (at >= 0 && at < text.length() && !name.isEmpty()) {
                if (text.startsWith("//", at)) {
                    at = text.indexOf('\n', at);
                } else if (text.startsWith("/*", at)) {
                    at = text.indexOf("*/", at) + 2;
                } else if (isWord(at, name)) {
                    return at;
                } else if (text.charAt(at) == '{') {
                    return -1;
                } else {
                    at++;
                }
            }
            return -1;
        }

        private boolean isWord(int at, String name) {
            int end = at + name.length();
            return text.startsWith(name, at)
                    && (at == 0 || !Character.isJavaIdentifierPart(text.charAt(at - 1)))
                    && (end >= text.length() || !Character.isJavaIdentifierPart(text.charAt(end)));
        }

        private String symbol(Element element) {
            Element meant = names.component(element, this::isWord);
            String symbol = names.of(meant);
            if (symbol != null || meant instanceof PackageElement || meant instanceof ModuleElement || isUnknown(meant)) {
                return symbol;
            }
            return locals.computeIfAbsent(meant, one -> "local " + locals.size());
        }

        /** Classes that are not there, and their members. */
        private static boolean isUnknown(Element element) {
            for (Element owner = element; owner != null && !(owner instanceof PackageElement); owner = owner.getEnclosingElement()) {
                if (owner instanceof TypeElement && owner.asType().getKind() == TypeKind.ERROR) {
                    return true;
                }
            }
            return element.getEnclosingElement() == null;
        }

        private void add(int at, String name, Element element, boolean isDefinition) {
            // Trees that javac has made up stand where there is other text; keywords are no names.
            if (element == null || at < 0 || name.isEmpty() || name.equals("this") || name.equals("super") || name.equals("class") || !isWord(at, name)) {
                return;
            }
            String symbol = symbol(element);
            if (symbol != null && (isWhole || isDefinition && !symbol.startsWith("local "))) {
                lengths.put(at, name.length());
                occurrences.computeIfAbsent(at, one -> new LinkedHashMap<>()).merge(symbol, isDefinition ? 1 : 0, Math::max);
            }
        }

        private void relate(TypeElement type) {
            Set<String> above = new LinkedHashSet<>();
            for (TypeElement one : names.supertypes(type)) {
                String symbol = names.of(one);
                if (symbol != null && !one.getQualifiedName().contentEquals("java.lang.Object")) {
                    above.add(symbol);
                }
            }
            put(type, above);
            boolean inherits = !type.getInterfaces().isEmpty() && type.getKind().isClass();
            List<? extends Element> members = inherits ? names.elements.getAllMembers(type) : type.getEnclosedElements();
            for (ExecutableElement method : ElementFilter.methodsIn(members)) {
                if (!method.getModifiers().contains(Modifier.STATIC) && names.trees.getTree(method) != null) {
                    put(method, names.overridden(method, type));
                }
            }
        }

        private void put(Element element, Set<String> targets) {
            String symbol = symbol(element);
            if (symbol != null && !targets.isEmpty()) {
                relations.computeIfAbsent(symbol, one -> new LinkedHashSet<>()).addAll(targets);
            }
        }

        void writeTo(OutputStream out) throws IOException {
            Message document = new Message().text(1, path);
            for (Map.Entry<Integer, Map<String, Integer>> place : occurrences.entrySet()) {
                int line = Arrays.binarySearch(lines, place.getKey());
                line = line < 0 ? -line - 2 : line;
                int column = place.getKey() - lines[line];
                Message range = new Message().raw(line).raw(column).raw(column + lengths.get(place.getKey()));
                for (Map.Entry<String, Integer> one : place.getValue().entrySet()) {
                    document.message(2, new Message().message(1, range).text(2, one.getKey()).number(3, one.getValue()));
                }
            }
            for (Map.Entry<String, Set<String>> one : relations.entrySet()) {
                Message symbol = new Message().text(1, one.getKey());
                for (String target : one.getValue()) {
                    symbol.message(4, new Message().text(1, target).number(3, 1));
                }
                document.message(3, symbol);
            }
            document.text(4, "java").number(6, 2);
            new Message().message(2, document).writeTo(out);
        }
    }

    /** The wire format of protocol buffers, as far as SCIP needs it. */
    private static final class Message {
        private final ByteArrayOutputStream data = new ByteArrayOutputStream();

        Message raw(long value) {
            while (value > 127) {
                data.write((int) (value & 127 | 128));
                value >>>= 7;
            }
            data.write((int) value);
            return this;
        }

        Message number(int field, long value) {
            return value == 0 ? this : raw(field << 3).raw(value);
        }

        Message text(int field, String value) {
            return bytes(field, value.getBytes(StandardCharsets.UTF_8));
        }

        Message message(int field, Message value) {
            return bytes(field, value.data.toByteArray());
        }

        private Message bytes(int field, byte[] value) {
            raw(field << 3 | 2).raw(value.length);
            data.write(value, 0, value.length);
            return this;
        }

        void writeTo(OutputStream out) throws IOException {
            data.writeTo(out);
        }
    }
}
