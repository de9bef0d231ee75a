// A judge of Java references that shares no code with javac: what Eclipse's compiler says each name means.
//
//   java -cp JARS Judge.java ROOT FILES
//
// JARS are Debian's eclipse-jdt-core and what it needs. FILES is a file with paths relative to ROOT, one a line.
// For each name that is resolved it prints a line: path, line and column, then path, line and column of the name
// that is declared, or `outside`. Lines and columns count from 0, columns in UTF-16 units. Nothing is printed of
// names that have no meaning because a library is missing.

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.core.runtime.NullProgressMonitor;
import org.eclipse.jdt.core.JavaCore;
import org.eclipse.jdt.core.dom.AST;
import org.eclipse.jdt.core.dom.ASTParser;
import org.eclipse.jdt.core.dom.ASTVisitor;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.FileASTRequestor;
import org.eclipse.jdt.core.dom.IBinding;
import org.eclipse.jdt.core.dom.IMethodBinding;
import org.eclipse.jdt.core.dom.ITypeBinding;
import org.eclipse.jdt.core.dom.IVariableBinding;
import org.eclipse.jdt.core.dom.SimpleName;

public final class Judge extends FileASTRequestor {
    private static final String OUTSIDE = "outside";

    private final Path root;
    private final Map<String, String> declarations = new HashMap<>();
    private final List<String[]> uses = new ArrayList<>();

    private Judge(Path root) {
        this.root = root;
    }

    public static void main(String[] arguments) throws Exception {
        Path root = Paths.get(arguments[0]).toRealPath();
        List<String> names = Files.readAllLines(Paths.get(arguments[1]), StandardCharsets.UTF_8);
        String[] paths = names.stream().map(name -> root.resolve(name).toString()).toArray(String[]::new);
        Judge judge = new Judge(root);
        parser().createASTs(paths, null, new String[0], judge, new NullProgressMonitor());
        judge.print();
    }

    private static ASTParser parser() {
        ASTParser parser = ASTParser.newParser(AST.getJLSLatest());
        Map<String, String> options = JavaCore.getOptions();
        JavaCore.setComplianceOptions(JavaCore.VERSION_17, options);
        parser.setCompilerOptions(options);
        parser.setKind(ASTParser.K_COMPILATION_UNIT);
        parser.setResolveBindings(true);
        parser.setEnvironment(new String[0], new String[0], null, true);
        return parser;
    }

    @Override
    public void acceptAST(String file, CompilationUnit unit) {
        unit.accept(new ASTVisitor(false) {
            @Override
            public boolean visit(SimpleName name) {
                IBinding binding = declaration(name.resolveBinding());
                if (binding != null && !binding.isRecovered()) {
                    String place = place(file, unit, name);
                    if (name.isDeclaration()) {
                        declarations.putIfAbsent(binding.getKey(), place);
                    } else {
                        uses.add(new String[] {place, isFromSource(binding) ? binding.getKey() : OUTSIDE});
                    }
                }
                return true;
            }
        });
    }

    // What is declared, of what is used with arguments for its type parameters; none of a package.
    private static IBinding declaration(IBinding binding) {
        if (binding instanceof IMethodBinding) {
            return ((IMethodBinding) binding).getMethodDeclaration();
        }
        if (binding instanceof IVariableBinding) {
            return ((IVariableBinding) binding).getVariableDeclaration();
        }
        return binding instanceof ITypeBinding ? ((ITypeBinding) binding).getTypeDeclaration() : null;
    }

    private static boolean isFromSource(IBinding binding) {
        if (binding instanceof IMethodBinding) {
            return ((IMethodBinding) binding).getDeclaringClass().isFromSource();
        }
        if (binding instanceof ITypeBinding) {
            return ((ITypeBinding) binding).isFromSource();
        }
        IVariableBinding variable = (IVariableBinding) binding;
        // `length` of an array is declared by no class.
        boolean isMember = variable.isField() && variable.getDeclaringClass() != null;
        return isMember ? variable.getDeclaringClass().isFromSource() : !variable.isField();
    }

    private String place(String file, CompilationUnit unit, SimpleName name) {
        int line = unit.getLineNumber(name.getStartPosition()) - 1;
        int column = unit.getColumnNumber(name.getStartPosition());
        return root.relativize(Paths.get(file)) + "\t" + line + "\t" + column;
    }

    private void print() {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String[] use : uses) {
            String target = use[1].equals(OUTSIDE) ? OUTSIDE : declarations.get(use[1]);
            if (target != null) {
                out.println(use[0] + "\t" + target);
            }
        }
        out.flush();
    }
}
